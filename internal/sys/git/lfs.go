package git

import (
	"context"
	"encoding/hex"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// LFSPointer is the text that is committed in place of a file in git LFS.
type LFSPointer struct {
	Hash string // of the content, SHA-256
	Size int64
}

// MaxLFSPointer is git LFS's limit for the size of a pointer.
const MaxLFSPointer = 1024

// MaxLFSFile limits the content of one LFS file, and MaxLFSTree that of all LFS files of a tree:
// above the limits, files are left as pointers. Every tree on which overlays are mounted has a
// copy of the content.
const (
	MaxLFSFile = 128 << 20
	MaxLFSTree = 2 << 30
)

const pointerVersion = "version https://git-lfs.github.com/spec/v1\n"

// String returns the pointer in the form of git LFS.
func (p LFSPointer) String() string {
	return fmt.Sprintf("%soid sha256:%s\nsize %d\n", pointerVersion, p.Hash, p.Size)
}

// ParseLFSPointer parses a pointer: the version, then lines of a key and a value. A pointer with
// other keys than oid and size is refused: its content passes through an LFS extension, a program
// of the user's.
func ParseLFSPointer(text string) (p LFSPointer, ok bool) {
	rest, is := strings.CutPrefix(text, pointerVersion)
	if !is || len(text) >= MaxLFSPointer || !strings.HasSuffix(text, "\n") {
		return LFSPointer{}, false
	}
	p.Size = -1
	for line := range strings.Lines(rest) {
		key, value, _ := strings.Cut(strings.TrimSuffix(line, "\n"), " ")
		switch {
		case key == "oid" && p.Hash == "":
			p.Hash, is = strings.CutPrefix(value, "sha256:")
			is = is && len(p.Hash) == 64 && IsObjectID(p.Hash)
		case key == "size" && p.Size < 0:
			n, err := strconv.ParseInt(value, 10, 64)
			is = err == nil && n >= 0 && strconv.FormatInt(n, 10) == value
			p.Size = n
		default:
			is = false
		}
		if !is {
			return LFSPointer{}, false
		}
	}
	return p, p.Hash != "" && p.Size >= 0
}

// BlobID returns the object name of a blob; size is the length of object names in bytes.
func BlobID(data []byte, size int) string {
	h := newHash(size)
	_, _ = fmt.Fprintf(h, "blob %d\x00", len(data)) // writing to a hash cannot fail
	h.Write(data)
	return hex.EncodeToString(h.Sum(nil))
}

// LFSFile is a file whose content is in git LFS: the committed blob is a pointer.
type LFSFile struct {
	Path string
	LFSPointer
	Here   bool // the content is in the repository's own LFS store
	TooBig bool // it is left as a pointer because of its size
}

// LFSFiles returns the files of the checked-out commit that are LFS pointers and have the LFS
// attribute. No program of git LFS runs.
func (r Repo) LFSFiles(ctx context.Context) ([]LFSFile, error) {
	paths, err := r.LFSPaths(ctx)
	if err != nil || len(paths) == 0 {
		return nil, err
	}
	var in strings.Builder
	for _, p := range paths {
		in.WriteString("HEAD:" + p + "\n")
	}
	told, err := r.RunWithInput(ctx, strings.NewReader(in.String()), "cat-file", "--batch-check=%(objectname) %(objectsize)")
	if err != nil {
		return nil, err
	}
	in.Reset()
	var small []string
	for line := range strings.Lines(told) {
		path := paths[0]
		paths = paths[1:]
		id, length, _ := strings.Cut(strings.TrimSpace(line), " ")
		if n, err := strconv.Atoi(length); err == nil && n < MaxLFSPointer && IsObjectID(id) {
			in.WriteString(id + "\n")
			small = append(small, path)
		}
	}
	if len(small) == 0 {
		return nil, nil
	}
	texts, err := r.RunWithInput(ctx, strings.NewReader(in.String()), "cat-file", "--batch")
	if err != nil {
		return nil, err
	}
	store, err := r.LFSStore(ctx)
	if err != nil {
		return nil, err
	}
	var all []LFSFile
	var sum int64
	for _, path := range small {
		var text string
		if text, texts, err = cutBatchObject(texts); err != nil {
			return nil, err
		}
		if p, ok := ParseLFSPointer(text); ok {
			f := LFSFile{Path: path, LFSPointer: p, Here: store.Has(p), TooBig: p.Size > MaxLFSFile || sum+p.Size > MaxLFSTree}
			if f.Here && !f.TooBig {
				sum += p.Size
			}
			all = append(all, f)
		}
	}
	return all, nil
}

// cutBatchObject returns the first object in the output of git cat-file --batch, and the rest.
func cutBatchObject(out string) (text, rest string, err error) {
	head, rest, _ := strings.Cut(out, "\n")
	f := strings.Fields(head)
	if len(f) == 3 {
		if n, err := strconv.Atoi(f[2]); err == nil && n >= 0 && n < len(rest) {
			return rest[:n], rest[n+1:], nil
		}
	}
	return "", "", fmt.Errorf("git cat-file: %q", head)
}

// LFSPaths returns the paths of the index with the attribute filter=lfs, in order. Paths with a
// line break are left out, because they cannot be passed to git in a list.
func (r Repo) LFSPaths(ctx context.Context) ([]string, error) {
	out, err := r.Run(ctx, "ls-files", "-z", "--cached", "--", ":(attr:filter=lfs)")
	if err != nil || out == "" {
		return nil, err
	}
	all := strings.Split(strings.TrimSuffix(out, "\x00"), "\x00")
	return slices.Compact(slices.DeleteFunc(all, func(p string) bool { return strings.Contains(p, "\n") })), nil
}

// FilterLFSPaths returns those of the paths, existing or not, to which the attributes of the
// work tree give filter=lfs.
func (r Repo) FilterLFSPaths(ctx context.Context, paths []string) (map[string]bool, error) {
	in := strings.NewReader(strings.Join(paths, "\x00") + "\x00")
	out, err := r.RunWithInput(ctx, in, "check-attr", "-z", "--stdin", "filter")
	if err != nil {
		return nil, err
	}
	all := map[string]bool{}
	f := strings.Split(out, "\x00")
	for i := 0; i+2 < len(f); i += 3 {
		if f[i+2] == "lfs" {
			all[f[i]] = true
		}
	}
	return all, nil
}
