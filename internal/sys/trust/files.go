package trust

import (
	"crypto/sha256"
	"encoding/hex"
	"io"
	"os"
	"path"
	"path/filepath"
	"strings"
	"unicode"
)

// Files returns the files of a repository that a command line names, when it
// is run in dir, with the SHA-256 of each: they are part of what somebody
// agrees to. A script within an argument is named, too, as in sh -c "./a.sh b".
func Files(root *os.Root, dir string, argv []string) map[string]string {
	if len(argv) == 0 || argv[0] == "" || root == nil {
		return nil
	}
	sums := map[string]string{}
	for _, arg := range words(argv) {
		name := path.Join(filepath.ToSlash(dir), filepath.ToSlash(arg))
		if filepath.IsAbs(arg) {
			rel, err := filepath.Rel(root.Name(), arg)
			if err != nil {
				continue
			}
			name = filepath.ToSlash(rel)
		}
		if arg == "" || !filepath.IsLocal(name) {
			continue
		}
		if sum, ok := sum(root, name); ok {
			sums[name] = sum
		}
	}
	return sums
}

// words returns what may name a file: arguments, values behind an equals sign,
// and the words within an argument.
func words(argv []string) []string {
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

func sum(root *os.Root, name string) (string, bool) {
	info, err := root.Stat(name) // before opening: a pipe would wait for a writer
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
