package git

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/nexus-ai-builder/nexus/internal/sys/git/gittest"
)

// pointerTo returns the pointer to a content, and its hash.
func pointerTo(content string) (pointer, hash string) {
	sum := sha256.Sum256([]byte(content))
	hash = hex.EncodeToString(sum[:])
	return fmt.Sprintf("%soid sha256:%s\nsize %d\n", pointerVersion, hash, len(content)), hash
}

// TestLFSFiles finds the pointers of a commit, wherever they are, and says which content is here.
func TestLFSFiles(t *testing.T) {
	dir := t.TempDir()
	gittest.RunGit(t, dir, "init", "-q", "-b", "main")
	here, hash := pointerTo("content")
	gone, other := pointerTo("another")
	short, third := pointerTo("whole")
	big := LFSPointer{strings.Repeat("d", 64), MaxLFSFile + 1}
	files := map[string]string{"a.bin": here, "big.bin": big.String(), "d/b c.bin": gone, "cut.bin": short, ".gitattributes": "*.bin filter=lfs diff=lfs merge=lfs -text\n", "talk.md": "See " + pointerVersion, "plain": "x\n"}
	gittest.WriteFiles(t, dir, files)
	gittest.RunGit(t, dir, "add", ".")
	gittest.RunGit(t, dir, "commit", "-q", "-m", "one")
	store := filepath.Join(".git/lfs/objects")
	gittest.WriteFiles(t, dir, map[string]string{
		filepath.Join(store, hash[:2], hash[2:4], hash): "content", filepath.Join(store, third[:2], third[2:4], third): "who",
	})
	r := want[Repo](t)(FindRepo(t.Context(), dir))
	got := want[[]LFSFile](t)(r.LFSFiles(t.Context()))
	if d := cmp.Diff([]LFSFile{{"a.bin", LFSPointer{hash, 7}, true, false}, {"big.bin", big, false, true}, {"cut.bin", LFSPointer{third, 5}, false, false}, {"d/b c.bin", LFSPointer{other, 7}, false, false}}, got); d != "" {
		t.Error(d)
	}
	gittest.RunGit(t, dir, "rm", "-q", "*.bin", "talk.md")
	gittest.RunGit(t, dir, "commit", "-q", "-m", "two")
	if got := want[[]LFSFile](t)(r.LFSFiles(t.Context())); len(got) > 0 {
		t.Errorf("without any there are %v", got)
	}
}

// FuzzParseLFSPointer takes a text for a pointer only if it names a content as long as a hash is, and
// says no more than a pointer that is written again.
func FuzzParseLFSPointer(f *testing.F) {
	good, hash := pointerTo("x")
	f.Add(good)
	f.Add(pointerVersion + "oid sha256:zz\nsize -1\n")
	f.Add(pointerVersion + "size 1\noid sha256:" + hash + "\n")
	f.Add(strings.Replace(good, "oid", "ext-0-case sha256:"+hash+"\noid", 1))
	f.Add(good + "size 2\n")
	f.Add(strings.Replace(good, "size 1", "size 01", 1))
	f.Fuzz(func(t *testing.T, text string) {
		p, ok := ParseLFSPointer(text)
		if !ok {
			return
		}
		if p.Size < 0 || len(p.Hash) != 64 || strings.Trim(p.Hash, "0123456789abcdef") != "" || len(text) != len(p.String()) {
			t.Errorf("%q is %v", text, p)
		}
		if again, ok := ParseLFSPointer(p.String()); !ok || again != p {
			t.Errorf("%q is %v, and then %v", text, p, again)
		}
	})
}

// TestParsePointer tells pointers from what only looks like them.
func TestParsePointer(t *testing.T) {
	good, hash := pointerTo("x")
	for text, want := range map[string]bool{
		good: true,
		"":   false,
		pointerVersion + "size 1\noid sha256:" + hash + "\n":            true,
		strings.TrimSuffix(good, "\n"):                                  false,
		strings.Replace(good, "v1", "v2", 1):                            false,
		strings.Replace(good, "sha256", "sha512", 1):                    false,
		strings.Replace(good, "size 1", "size +1", 1):                   false,
		strings.Replace(good, "size 1", "size 1 ", 1):                   false,
		strings.ToUpper(good):                                           false,
		good + "size 1\n":                                               false,
		good + "\n":                                                     false,
		strings.Replace(good, "oid", "ext-0-a sha256:"+hash+"\noid", 1): false,
		good + strings.Repeat("x", MaxLFSPointer):                       false,
	} {
		if _, ok := ParseLFSPointer(text); ok != want {
			t.Errorf("%q is a pointer: %t", text, ok)
		}
	}
}
