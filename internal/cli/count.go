package cli

import "fmt"

// count returns a number with its noun, in the plural where there must be one.
func count(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}
