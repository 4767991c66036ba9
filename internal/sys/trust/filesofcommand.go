package trust

import (
	"crypto/sha256"
	"encoding/hex"
	"io"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"unicode"
)

// FilesOfCommand returns the files of a repository that a command line names, when it runs in dir,
// with the SHA-256 of each: a person's agreement covers their content. Scripts within an argument
// are included, as in sh -c "./a.sh b".
func FilesOfCommand(root *os.Root, dir string, argv []string) map[string]string {
	if len(argv) == 0 || argv[0] == "" || root == nil {
		return nil
	}
	sums := map[string]string{}
	for _, arg := range wordsOfArgs(argv) {
		names := []string{path.Join(filepath.ToSlash(dir), filepath.ToSlash(arg))}
		if filepath.IsAbs(arg) {
			names = relativeNamesOf(root.Name(), arg)
		}
		for _, name := range names {
			if arg == "" || !filepath.IsLocal(name) {
				continue
			}
			if sum, ok := fileHash(root, name); ok {
				sums[name] = sum
			}
		}
	}
	return sums
}

// relativeNamesOf returns a path's names relative to a directory: as written, and with links resolved, in
// the path or in the directory.
func relativeNamesOf(dir, file string) []string {
	var names []string
	add := func(dir, file string) {
		if rel, err := filepath.Rel(dir, file); err == nil && !slices.Contains(names, filepath.ToSlash(rel)) {
			names = append(names, filepath.ToSlash(rel))
		}
	}
	add(dir, file)
	realDir, err := filepath.EvalSymlinks(dir)
	if err != nil {
		return names
	}
	if real, err := filepath.EvalSymlinks(file); err == nil {
		add(realDir, real)
	}
	return names
}

// wordsOfArgs returns the words that may name a file: arguments, values after an equals sign, and the
// words within an argument.
func wordsOfArgs(argv []string) []string {
	var all []string
	for _, arg := range argv {
		all = append(all, arg)
		if _, value, ok := strings.Cut(arg, "="); ok {
			all = append(all, value)
		}
		all = append(all, strings.FieldsFunc(arg, func(r rune) bool { return unicode.IsSpace(r) || strings.ContainsRune("=;|&()<>\"'`", r) })...)
	}
	return all
}

func fileHash(root *os.Root, name string) (string, bool) {
	info, err := root.Stat(name) // before opening: opening a pipe would wait for a writer
	if err != nil || !info.Mode().IsRegular() {
		return "", false
	}
	f, err := root.Open(name)
	if err != nil {
		return "unreadable", true
	}
	defer func() { _ = f.Close() }() // only read
	h := sha256.New()
	if _, err := io.Copy(h, f); err != nil {
		return "unreadable", true
	}
	return hex.EncodeToString(h.Sum(nil)), true
}
