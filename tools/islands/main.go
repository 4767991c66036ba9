// Command islands bundles the scripts and the style of the web pages from src of the given
// directory to its static directory, and compresses all files of static into packed. It needs
// nothing but Go.
package main

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/evanw/esbuild/pkg/api"
)

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: islands DIR")
		os.Exit(2)
	}
	src, out := filepath.Join(os.Args[1], "src"), filepath.Join(os.Args[1], "static")
	result := api.Build(api.BuildOptions{
		EntryPoints:       []string{filepath.Join(src, "app.ts"), filepath.Join(src, "theme.ts"), filepath.Join(src, "style.css")},
		Outdir:            out,
		Bundle:            true,
		Write:             true,
		MinifySyntax:      true,
		MinifyWhitespace:  true,
		MinifyIdentifiers: true,
		Format:            api.FormatIIFE,
		Target:            api.ES2022,
		Charset:           api.CharsetASCII,
		LogLevel:          api.LogLevelWarning,
	})
	if len(result.Errors) > 0 {
		os.Exit(1)
	}
	if err := pack(out, filepath.Join(os.Args[1], "packed")); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// pack writes each file of a directory as gzip into another one.
func pack(from, to string) error {
	return filepath.WalkDir(from, func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		data, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		var b bytes.Buffer
		w, _ := gzip.NewWriterLevel(&b, gzip.BestCompression) // the level is valid
		_, _ = w.Write(data)                                  // into memory
		if err := w.Close(); err != nil {
			return err
		}
		rest, err := filepath.Rel(from, name)
		if err != nil {
			return err
		}
		file := filepath.Join(to, rest+".gz")
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			return err
		}
		return os.WriteFile(file, b.Bytes(), 0o644)
	})
}
