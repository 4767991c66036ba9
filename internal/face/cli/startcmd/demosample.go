package startcmd

import (
	_ "embed"
	"fmt"
	"os"
	"path/filepath"

	"github.com/rogpeppe/go-internal/txtar"
)

//go:embed demosample.txtar
var demoSample []byte

//go:embed demoscript.yaml
var demoScript []byte

// DemoGoal is what the sample's user wants.
const DemoGoal = "Teach units to write sizes, Roman numerals and durations, with commands for the first two"

// DemoScript returns what the model says, in the language of llmtest.
func DemoScript() []byte { return demoScript }

// WriteDemo writes the sample's files below dir.
func WriteDemo(dir string) error {
	for _, f := range txtar.Parse(demoSample).Files {
		path := filepath.Join(dir, filepath.FromSlash(f.Name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			return fmt.Errorf("write the sample: %w", err)
		}
		if err := os.WriteFile(path, f.Data, 0o644); err != nil {
			return fmt.Errorf("write the sample: %w", err)
		}
	}
	return nil
}
