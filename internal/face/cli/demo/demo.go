// Package demo holds a small repository and what a scripted model says about
// it, so that the whole of Nexus can be seen at work without a key.
package demo

import (
	_ "embed"
	"fmt"
	"os"
	"path/filepath"

	"github.com/rogpeppe/go-internal/txtar"
)

//go:embed sample.txtar
var sample []byte

//go:embed script.yaml
var script []byte

// Goal is what the sample's user wants.
const Goal = "Teach units to write sizes, Roman numerals and durations, with commands for the first two"

// Script returns what the model says, in the language of llmtest.
func Script() []byte { return script }

// Write writes the sample's files below dir.
func Write(dir string) error {
	for _, f := range txtar.Parse(sample).Files {
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
