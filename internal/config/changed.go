package config

import (
	"reflect"
	"slices"
)

// ChangedSettings returns the paths of the settings that differ between two
// readings of aurora.yml, such as "log.level", sorted. What a list or a mapping
// of free names holds counts as one setting.
func ChangedSettings(a, b *Settings) []string {
	var paths []string
	changed(reflect.ValueOf(a).Elem(), reflect.ValueOf(b).Elem(), "", &paths)
	slices.Sort(paths)
	return paths
}

func changed(a, b reflect.Value, path string, paths *[]string) {
	if a.Kind() != reflect.Struct || len(fieldsOf(a.Type(), nil)) == 0 {
		if !reflect.DeepEqual(a.Interface(), b.Interface()) {
			*paths = append(*paths, path)
		}
		return
	}
	for _, f := range fieldsOf(a.Type(), nil) {
		changed(a.FieldByIndex(f.index), b.FieldByIndex(f.index), join(path, f.key), paths)
	}
}
