package files

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"
	"syscall"

	"github.com/nexus-ai-builder/nexus/internal/decide/policy"
	"github.com/nexus-ai-builder/nexus/internal/sys/spelling"
)

const (
	maxPath = 4096 // bytes of a path
	maxDeep = 100  // directories of a path, each of which costs a search
)

// CleanPath returns a model's path as one below the root, or why it may not be used. os.Root
// confines its target.
func (t *AgentTree) CleanPath(name string, write bool) (string, error) {
	if strings.ContainsRune(name, 0) {
		return "", errors.New("a path cannot contain a NUL")
	}
	if rest, ok := strings.CutPrefix(name, t.Dir+"/"); ok && t.Dir != "" {
		name = rest
	} else if name == t.Dir || name == "" {
		name = "."
	}
	if path.IsAbs(name) {
		return "", newRefusal("path.outside", "%s is outside the worktree; give a path relative to its root%s", name, t.readablePathHint(write))
	}
	said, directory := name, strings.HasSuffix(name, "/") || strings.HasSuffix(name, "/.")
	name, err := t.resolveDots(name)
	if err != nil {
		return "", err
	}
	if len(name) > maxPath || strings.Count(name, "/") > maxDeep {
		return "", fmt.Errorf("%.100s... is too long or too deep for a path", name)
	}
	if !fs.ValidPath(name) {
		return "", newRefusal("path.outside", "%s is outside the worktree", name)
	}
	if err := t.checkAccess(name, write); err != nil {
		return "", err
	}
	if directory && t.Root != nil {
		if info, err := t.Root.Stat(name); err == nil && !info.IsDir() {
			return "", fmt.Errorf("%s names a directory, but %s is a file", said, name)
		}
	}
	return name, nil
}

// readablePathHint returns a text about other readable files.
func (t *AgentTree) readablePathHint(write bool) string {
	if write || len(t.Caches) == 0 {
		return ""
	}
	return ", or the absolute path of a file of a dependency or toolchain, such as the shell prints with go list -m -f '{{.Dir}}' MODULE"
}

// resolveDots returns a path without its dots. The part before two of them is resolved as the kernel
// does, for it may be a link to a directory elsewhere.
func (t *AgentTree) resolveDots(name string) (string, error) {
	clean := path.Clean(name)
	if t.Root == nil || len(name) > maxPath || !fs.ValidPath(clean) || !strings.Contains("/"+name+"/", "/../") {
		return clean, nil
	}
	done := "."
	for part := range strings.SplitSeq(name, "/") {
		switch part {
		case "", ".":
		case "..":
			info, err := t.Root.Stat(done)
			switch {
			case errors.Is(err, fs.ErrNotExist):
				return "", t.ExplainOpenError(done, err)
			case err != nil:
				return "", newRefusal("path.outside", "%s leads outside the worktree", name)
			case !info.IsDir():
				return "", fmt.Errorf("%s is not a directory, so .. after it leads nowhere in %s", done, name)
			}
			at := path.Clean(t.followLinks(done))
			if at == "." {
				return "", newRefusal("path.outside", "%s is outside the worktree", name)
			}
			done = path.Dir(at)
		default:
			done = path.Join(done, part)
		}
	}
	return done, nil
}

// checkAccess returns why a file may not be accessed, by its name and by the tree's rules.
func (t *AgentTree) checkAccess(name string, write bool) error {
	if err := t.checkAccessByName(name, write); err != nil {
		return err
	}
	if t.Root != nil && t.Hidden.IsIgnored(t.Root, name) {
		return newRefusal("path.ignored", "%s is refused (path.ignored): .nexusignore hides it from agents", name)
	}
	return nil
}

// checkAccessByName returns why a file may not be accessed, by its name alone.
func (t *AgentTree) checkAccessByName(name string, write bool) error {
	if d := policy.JudgePath(name, write); !d.IsAllowed() && (d.Rule != "path.secret" || !t.Hidden.isShown(name)) {
		return newRefusal(d.Rule, "%s is refused (%s): %s; instead: %s", name, d.Rule, d.Reason, d.Way)
	}
	if base := strings.ToLower(path.Base(name)); write && (base == ".gitmodules" || base == ".nexusignore") {
		return newRefusal("path.config", "%s is refused (path.config): it decides what others fetch or ignore, so only people may edit it", name)
	}
	if write && t.Rule != nil {
		if err := t.Rule(name); err != nil {
			return newRefusal("role.writes", "%v", err)
		}
	}
	return nil
}

// openReadableFile opens a regular file for reading. A pipe or a device is refused without being
// opened, and without blocking if it replaced the file just then.
func (t *AgentTree) openReadableFile(name string) (*os.File, fs.FileInfo, error) {
	f, info, at, err := t.openRegularFile(name)
	if err != nil {
		return nil, nil, err
	}
	if why := t.Hidden.Read(at, f, info.Size()); why != "" {
		_ = f.Close()
		return nil, nil, secretRefusal(name, why)
	}
	return f, info, nil
}

// secretRefusal returns an error for a file that is hidden because of its content.
func secretRefusal(name, why string) error {
	return newRefusal("path.secret", "not shown: %s", HiddenFile{Name: name, Why: why})
}

// openRegularFile opens a regular file whose real path, which it returns, may be read. Its content is not
// inspected yet.
func (t *AgentTree) openRegularFile(name string) (f *os.File, info fs.FileInfo, at string, err error) {
	if info, err := t.Root.Stat(name); err == nil {
		if err := checkRegularFile(name, info); err != nil {
			return nil, nil, "", err
		}
	}
	return t.openFile(name)
}

// openFile is open for a path that is known to be no pipe and no device, unless it became one
// just now.
func (t *AgentTree) openFile(name string) (f *os.File, info fs.FileInfo, at string, err error) {
	if f, err = t.Root.OpenFile(name, reads, 0); err != nil {
		return nil, nil, "", t.ExplainOpenError(name, err)
	}
	if info, err = f.Stat(); err == nil {
		err = checkRegularFile(name, info)
	}
	if err == nil {
		at, err = t.checkedPath(f, name)
	}
	if err != nil {
		_ = f.Close()
		return nil, nil, "", err
	}
	return f, info, at, nil
}

// reads opens for reading. The runtime uses a non-blocking file as it is, which saves four
// system calls.
const reads = os.O_RDONLY | syscall.O_NONBLOCK

func checkRegularFile(name string, info fs.FileInfo) error {
	switch {
	case info.IsDir():
		return fmt.Errorf("%s is a directory; list_files shows what is in it", name)
	case !info.Mode().IsRegular():
		return fmt.Errorf("%s is not a regular file but a %s", name, fileKind(info.Mode()))
	}
	return nil
}

// resolvedPath returns the real path of an open file within the tree: links may have led to another
// one than its name.
func (t *AgentTree) resolvedPath(f *os.File, name string) (string, error) {
	top, err := t.rootDirectory()
	if err != nil {
		return "", err
	}
	dir, known := openFilePath(top)
	at, known2 := openFilePath(f)
	if !known || !known2 {
		return path.Clean(t.followLinks(name)), nil
	}
	if at == dir {
		return ".", nil
	}
	rest, inside := strings.CutPrefix(at, strings.TrimSuffix(dir, "/")+"/")
	if !inside {
		return "", newRefusal("path.outside", "%s is outside the worktree now", name)
	}
	return rest, nil
}

// Close closes the tree's files, so that it can be unmounted. Its Root belongs to the caller.
// The tree must not be used after it.
func (t *AgentTree) Close() {
	t.beside.closeAll()
	if f := t.top.Swap(nil); f != nil {
		_ = f.Close() // it was opened for reading only
	}
}

// rootDirectory returns the root's directory, which stays open until the tree is
// closed.
func (t *AgentTree) rootDirectory() (*os.File, error) {
	if f := t.top.Load(); f != nil {
		return f, nil
	}
	f, err := t.Root.OpenFile(".", reads, 0)
	if err != nil || t.top.CompareAndSwap(nil, f) {
		return f, err
	}
	return t.top.Load(), f.Close() // another goroutine was faster
}

// checkedPath returns the real path of an open file, or why it may not be read there.
func (t *AgentTree) checkedPath(f *os.File, name string) (string, error) {
	at, err := t.resolvedPath(f, name)
	if err != nil || at == name {
		return at, err
	}
	if err := t.checkAccess(at, false); err != nil {
		return "", fmt.Errorf("%s leads there: %w", name, err)
	}
	return at, nil
}

// followLinks returns the target of a name by its present links, for systems that do not know the
// path of an open file.
func (t *AgentTree) followLinks(name string) string {
	done := ""
	for steps := 0; name != "" && steps < 100; steps++ {
		part, rest, _ := strings.Cut(name, "/")
		at := path.Join(done, part)
		target, err := t.Root.Readlink(at)
		if err != nil || path.IsAbs(target) {
			done, name = at, rest
			continue
		}
		done, name = "", strings.TrimPrefix(path.Join("/", done, target, rest), "/")
	}
	return done
}

func fileKind(m fs.FileMode) string {
	switch {
	case m.IsDir():
		return "directory"
	case m&fs.ModeSymlink != 0:
		return "symbolic link"
	case m&fs.ModeNamedPipe != 0:
		return "named pipe"
	case m&fs.ModeSocket != 0:
		return "socket"
	default:
		return "device"
	}
}

// ExplainOpenError adds advice to an error about a path that cannot be opened.
func (t *AgentTree) ExplainOpenError(name string, err error) error {
	var p *fs.PathError
	if errors.As(err, &p) {
		err = p.Err
	}
	if !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("%s: %w", name, err)
	}
	dir := path.Dir(name)
	if near := t.similarNames(dir, path.Base(name)); len(near) > 0 {
		return fmt.Errorf("%s does not exist; %s has %s", name, dir, strings.Join(near, ", "))
	}
	if near := t.sameNameElsewhere(path.Base(name)); len(near) > 0 {
		return fmt.Errorf("%s does not exist; there is %s", name, strings.Join(near, ", "))
	}
	return fmt.Errorf("%s does not exist; list_files shows what there is", name)
}

// similarNames returns at most 8 names in a directory that are similar to a missing one.
func (t *AgentTree) similarNames(dir, name string) []string {
	d, err := t.Root.Open(dir)
	if err != nil {
		return nil
	}
	defer func() { _ = d.Close() }()
	names, _ := d.Readdirnames(1000)
	slices.Sort(names)
	stem := strings.ToLower(strings.TrimSuffix(name, path.Ext(name)))
	var near []string
	for _, n := range names {
		low := strings.ToLower(n)
		if len(stem) > 1 && (strings.Contains(low, stem) || len(low) > 3 && strings.Contains(stem, strings.TrimSuffix(low, path.Ext(low)))) {
			near = append(near, n)
		}
		if len(near) == 8 {
			break
		}
	}
	return near
}

const (
	maxLooked = 20_000 // files that are compared with a missing name
	maxNear   = 5      // similar files that are named
)

// sameNameElsewhere returns files of the tree with the name of a missing one, or a similar name:
// another case, another extension, or two letters that differ.
func (t *AgentTree) sameNameElsewhere(name string) []string {
	var same, alike []string
	n, low := 0, strings.ToLower(name)
	_ = t.Hidden.WalkUnignored(t.Root, ".", func(at string, d fs.DirEntry) bool { // on an error, none is named
		base := strings.ToLower(path.Base(at))
		switch {
		case t.checkAccess(at, false) != nil || d.IsDir():
		case base == low:
			same = append(same, at)
		case len(low) > 4 && (nameStem(base) == nameStem(low) || spelling.EditDistance(base, low) <= 2):
			alike = append(alike, at)
		}
		n++
		return n < maxLooked && len(same) < maxNear
	})
	all := append(same, alike...)
	return all[:min(len(all), maxNear)]
}

func nameStem(name string) string { return strings.TrimSuffix(name, path.Ext(name)) }
