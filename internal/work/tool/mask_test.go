package tool

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/nexus-ai-builder/nexus/internal/sys/secret"
	"github.com/nexus-ai-builder/nexus/internal/sys/testenv"
	"github.com/nexus-ai-builder/nexus/internal/work/tool/files"
)

// TestMaskedBeforeTheCut masks a key that the cut of a long result would tear.
func TestMaskedBeforeTheCut(t *testing.T) {
	testenv.SkipUnderRaceDetector(t, "it looks through much, alone")
	key := "gh" + "p_A1b2C3d4E5f6G7h8I9j0K1l2M3n4O5p6Q7r8"
	b := newBench(t, func(e *AgentToolEnvironment) { e.Mask = secret.NewMasker(nil).Mask })
	for at := range 60 {
		text := strings.Repeat("x ", files.MaxAnswer/4-30) + strings.Repeat(" ", at) + key + strings.Repeat(" y", files.MaxAnswer)
		if got := b.truncateResult(b.maskSecrets(text), files.MaxAnswer); strings.Contains(got, key[30:]) || strings.Contains(got, key[:12]) {
			t.Fatalf("%d: the cut left a part", at)
		}
	}
}

// TestMarksAreNotWritten keeps a mark from taking the place of a key.
func TestMarksAreNotWritten(t *testing.T) {
	b := newBench(t, nil)
	path := filepath.Join(b.dir, "a.txt")
	if err := os.WriteFile(path, []byte("key = real\nmark = "+secret.Mark+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for content, ok := range map[string]bool{
		"key = " + secret.Mark + "\nmark = " + secret.Mark + "\n": false,
		"key = other\nmark = " + secret.Mark + "\n":               true,
		"nothing\n": true,
	} {
		if got := b.call(t, "write_file", map[string]any{"path": "b.txt", "content": content}); got.Result.Failed != strings.Contains(content, secret.Mark) {
			t.Errorf("a new file: %s", got.Result.Text)
		}
		if got := b.call(t, "edit_file", map[string]any{"path": "a.txt", "edits": []map[string]any{{"old": "key = real\nmark = " + secret.Mark + "\n", "new": content}}}); got.Result.Failed == ok {
			t.Errorf("%q: %s", content, got.Result.Text)
		}
		if err := os.WriteFile(path, []byte("key = real\nmark = "+secret.Mark+"\n"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}
