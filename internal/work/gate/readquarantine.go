package gate

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"strings"

	"github.com/nexus-ai-builder/nexus/internal/decide/flaky"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/stack"
	"github.com/nexus-ai-builder/nexus/internal/stack/gosource"
	"github.com/nexus-ai-builder/nexus/internal/sys/git"
)

// maxQuarantine limits the size of a record, in bytes.
const maxQuarantine = 1 << 20

// ReadQuarantineAt returns the record of a commit or tree, an empty one if it has no such file. An
// unreadable record protects nothing, and is an error.
func ReadQuarantineAt(ctx context.Context, repo git.Repo, rev string) (flaky.QuarantineList, error) {
	entry, ok, err := repo.EntryAt(ctx, rev, flaky.QuarantineFile)
	if err != nil || !ok {
		return nil, err
	}
	if entry.Mode != git.ModeFile && entry.Mode != git.ModeExec {
		return nil, &nexus.Error{
			Code: nexus.CodeInvalidConfig, Message: flaky.QuarantineFile + " is not a file",
			Hint: "Replace the link with the quarantine list itself.",
		}
	}
	text, _, err := repo.ReadFile(ctx, rev, flaky.QuarantineFile, maxQuarantine)
	if err != nil {
		return nil, err
	}
	return flaky.ParseQuarantine([]byte(text))
}

// QuarantineChanged reports whether two commits or trees have different records.
func QuarantineChanged(ctx context.Context, repo git.Repo, from, to string) (bool, error) {
	was, _, err := repo.EntryAt(ctx, from, flaky.QuarantineFile)
	if err != nil {
		return false, err
	}
	is, _, err := repo.EntryAt(ctx, to, flaky.QuarantineFile)
	return was != is, err
}

// ReadQuarantine returns the text of the record in a directory, nil if there is none.
func ReadQuarantine(dir string) ([]byte, error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, err
	}
	defer func() { _ = root.Close() }() // it was opened for reading only
	info, err := root.Lstat(flaky.QuarantineFile)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, nil
	case err != nil:
		return nil, err
	case !info.Mode().IsRegular() || info.Size() > maxQuarantine:
		return nil, &nexus.Error{
			Code: nexus.CodeInvalidConfig, Message: flaky.QuarantineFile + " is not a plain file, or is too large",
			Hint: "Replace the link with the quarantine list itself.",
		}
	}
	return root.ReadFile(flaky.QuarantineFile)
}

// ReadQuarantineIn returns the record in a directory.
func ReadQuarantineIn(dir string) (flaky.QuarantineList, error) {
	data, err := ReadQuarantine(dir)
	if err != nil {
		return nil, err
	}
	return flaky.ParseQuarantine(data)
}

// TestLookupIn returns a function that reports whether a test of a name is in the files of a
// directory, by the last word of the name: test files, and sources of languages whose tests
// are there. If unsure, it returns true.
func TestLookupIn(dir string) func(test string) bool {
	var files []string
	for _, f := range stack.SourceFiles(os.DirFS(dir)) {
		if stack.MayHoldTests(f) || stack.ServesTests(f) {
			files = append(files, f)
		}
	}
	return func(test string) bool {
		_, last := lastTestNamePart(test)
		if _, name, ok := gosource.SplitTestName(test); ok {
			last, _, _ = strings.Cut(name, "/")
		}
		for _, f := range files {
			if strings.Contains(gosource.ReadRegularFile(os.DirFS(dir), f), last) {
				return true
			}
		}
		return false
	}
}
