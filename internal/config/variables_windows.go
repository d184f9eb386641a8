package config

// variables are the rules of this system.
var variables = &windowsVariables
