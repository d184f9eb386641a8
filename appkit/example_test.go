package appkit_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"

	"github.com/aurorabot/aurora/appkit"
)

// A whole app: dice with one tool and one startup parameter.
func Example() {
	var settings struct {
		Sides int `json:"sides"`
	}
	settings.Sides = 6 // the default
	if err := (appkit.Process{}).Env().Startup(&settings); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}

	type throw struct {
		Dice int `json:"dice,omitempty" jsonschema:"how many dice" appkit:"min=1,max=10,default=1"`
	}
	type thrown struct {
		Points []int `json:"points"`
	}
	app := &appkit.App{
		Package: "org.example.dice",
		Title:   "Dice",
		Version: "0.1.0",
		Tools: []appkit.Tool{
			appkit.NewTool(appkit.ToolInfo{
				Name:        "throw",
				Title:       "Throw dice",
				Description: "Throws one or more dice and tells what they show.",
				Hints:       &appkit.Hints{ReadOnly: true},
			}, func(_ context.Context, in throw) (string, thrown, error) {
				if settings.Sides < 2 {
					return "", thrown{}, appkit.Fail("DICE_BROKEN", "The dice have no sides.", false)
				}
				points := make([]int, in.Dice)
				for i := range points {
					points[i] = 1 + rand.IntN(settings.Sides)
				}
				return fmt.Sprintf("The dice show %v.", points), thrown{points}, nil
			}),
		},
	}
	if err := appkit.Serve(context.Background(), app); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
