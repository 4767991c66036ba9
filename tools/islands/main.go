// Command islands bundles the scripts and the style of the web pages from src of the given
// directory to its static directory. It needs nothing but Go.
package main

import (
	"fmt"
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
}
