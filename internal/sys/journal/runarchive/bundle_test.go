package runarchive_test

import (
	"archive/tar"
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/sys/journal/runarchive"
)

// member is one of those after the events.
type member struct{ name, text string }

// with makes a file of members, which says that commits are among them.
func with(t *testing.T, bundle bool, all ...member) []byte {
	t.Helper()
	data := archive(t, "", func(m *runarchive.RunArchiveManifest) { m.Bundle = bundle })
	var b bytes.Buffer
	w, r := tar.NewWriter(&b), tar.NewReader(bytes.NewReader(data))
	put := func(h *tar.Header, text io.Reader) {
		if err := w.WriteHeader(h); err != nil {
			t.Fatal(err)
		}
		if _, err := io.Copy(w, text); err != nil {
			t.Fatal(err)
		}
	}
	for h, err := r.Next(); err == nil; h, err = r.Next() {
		put(h, r)
	}
	for _, m := range all {
		put(&tar.Header{Name: m.name, Typeflag: tar.TypeReg, Mode: 0o600, Size: int64(len(m.text))}, strings.NewReader(m.text))
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// TestMembers takes a file for whole only where its members are those that it says, in their
// order, each once and with what its name says.
func TestMembers(t *testing.T) {
	sum := sha256.Sum256([]byte("text"))
	blob, bundle := member{"blobs/" + hex.EncodeToString(sum[:]), "text"}, member{"objects.bundle", "pack"}
	for name, c := range map[string]struct {
		bundle bool
		all    []member
		want   string // empty: it is whole
	}{
		"none":                       {false, nil, ""},
		"blobs":                      {false, []member{blob}, ""},
		"blobs and commits":          {true, []member{blob, bundle}, ""},
		"no commits":                 {true, []member{blob}, "its commits are missing"},
		"others for commits":         {true, []member{{"objects", "pack"}}, "its commits are missing"},
		"commits that it says no of": {false, []member{bundle}, "a name that is not ours"},
		"something after commits":    {true, []member{bundle, {"x", ""}}, "a name that is not ours"},
		"a blob after commits":       {true, []member{bundle, blob}, "a name that is not ours"},
		"a blob that leads out":      {false, []member{{"blobs/../x", "text"}}, "a name that is not ours"},
		"a blob of another hash":     {false, []member{{blob.name, "next"}}, "is damaged"},
	} {
		_, blobs, commits, err := read(with(t, c.bundle, c.all...))
		if c.want == "" {
			if err != nil || len(blobs)+len(commits)/4 != len(c.all) {
				t.Errorf("%s: %q, %q, %v", name, blobs, commits, err)
			}
			continue
		}
		if !errors.Is(err, &nexus.Error{Code: nexus.CodeInvalidInput}) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", name, err, c.want)
		}
	}
}

// TestWhoTakesFails: what it says is the error, and nothing more is read.
func TestWhoTakesFails(t *testing.T) {
	full := errors.New("no room")
	p, err := runarchive.OpenPack(bytes.NewReader(written(t)))
	if err != nil {
		t.Fatal(err)
	}
	if err := p.ReadBlobs(func(string, []byte) error { return full }); !errors.Is(err, full) {
		t.Errorf("blobs: %v", err)
	}
	if err := p.ReadBundle(func(io.Reader) error { return full }); !errors.Is(err, full) {
		t.Errorf("commits: %v", err)
	}
}

// TestCommitsThatNobodyReadWhole are cut off, as far as anybody can tell.
func TestCommitsThatNobodyReadWhole(t *testing.T) {
	p, err := runarchive.OpenPack(bytes.NewReader(with(t, true, member{"objects.bundle", "pack"})))
	if err != nil {
		t.Fatal(err)
	}
	err = p.ReadBundle(func(r io.Reader) error {
		_, err := r.Read(make([]byte, 3))
		return err
	})
	if err == nil || !strings.Contains(err.Error(), "cut off") {
		t.Error(err)
	}
}

// TestNoArchive names what is wrong, and takes no part of a file for the whole.
func TestNoArchive(t *testing.T) {
	whole := written(t)
	for _, data := range [][]byte{[]byte("no archive"), bytes.Repeat([]byte("garbage "), 512), whole[:300]} {
		if _, err := runarchive.OpenPack(bytes.NewReader(data)); err == nil || !strings.Contains(err.Error(), "it is cut off or no archive") {
			t.Errorf("%.20q: %v", data, err)
		}
	}
	if _, err := runarchive.OpenPack(bytes.NewReader(nil)); err == nil || !strings.Contains(err.Error(), "manifest.json is missing") {
		t.Errorf("nothing: %v", err)
	}
}
