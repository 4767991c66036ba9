package runarchive_test

import (
	"archive/tar"
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/nexus-ai-builder/nexus/internal/sys/journal"
	"github.com/nexus-ai-builder/nexus/internal/sys/journal/runarchive"
)

func written(tb testing.TB) []byte {
	tb.Helper()
	var b bytes.Buffer
	commit := hex.EncodeToString(make([]byte, 20))
	events := []journal.ImportableEvent{
		{Seq: 3, At: time.Unix(5, 0).UTC(), Kind: "run.ended", Data: []byte(`{"status":"done"}`)},
		{Seq: 9, At: time.Unix(6, 0).UTC(), Kind: "run.paused", Data: []byte(`{"why":"x"}`)},
	}
	w, err := runarchive.NewRunPackWriter(&b, runarchive.RunArchiveManifest{Run: "261121-104125-k3f", Base: commit, Refs: map[string]string{"refs/nexus/261121-104125-k3f/train": commit}, Bundle: true}, events)
	if err != nil {
		tb.Fatal(err)
	}
	sum := sha256.Sum256([]byte("text"))
	for _, err := range []error{w.WriteBlob(hex.EncodeToString(sum[:]), []byte("text")), w.WriteBundle(4, bytes.NewReader([]byte("pack"))), w.Close()} {
		if err != nil {
			tb.Fatal(err)
		}
	}
	return b.Bytes()
}

// read reads a file to its end.
func read(data []byte) (p *runarchive.RunArchiveReader, blobs []string, bundle string, err error) {
	if p, err = runarchive.OpenPack(bytes.NewReader(data)); err != nil {
		return p, nil, "", err
	}
	err = p.ReadBlobs(func(_ string, data []byte) error { blobs = append(blobs, string(data)); return nil })
	if err == nil {
		err = p.ReadBundle(func(r io.Reader) error {
			got, err := io.ReadAll(r)
			bundle = string(got)
			return err
		})
	}
	return p, blobs, bundle, err
}

func TestRoundTrip(t *testing.T) {
	p, blobs, bundle, err := read(written(t))
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff([]string{"text"}, blobs); d != "" || bundle != "pack" || len(p.Events) != 2 || p.Events[1].Seq != 9 || string(p.Events[0].Data) != `{"status":"done"}` {
		t.Errorf("%s %q %+v", d, bundle, p.Events)
	}
}

// TestCut cuts a file off everywhere: no part of it is taken for the whole. What
// ends a tar archive holds nothing.
func TestCut(t *testing.T) {
	whole := written(t)
	for n := 0; n < len(whole)-2*512; n += 61 {
		if _, _, bundle, err := read(whole[:n]); err == nil && bundle != "pack" {
			t.Errorf("%d of %d bytes are taken for the whole", n, len(whole))
		}
	}
}

// isSparse returns an archive whose first member says that it is a sparse file of
// five million bytes: a few, which are read as as many zeros as it wants.
func isSparse(tb testing.TB) []byte {
	tb.Helper()
	record := func(key, value string) string {
		n := len(key) + len(value) + 3
		for n != len(strconv.Itoa(n))+len(key)+len(value)+3 {
			n = len(strconv.Itoa(n)) + len(key) + len(value) + 3
		}
		return strconv.Itoa(n) + " " + key + "=" + value + "\n"
	}
	says := record("GNU.sparse.major", "1") + record("GNU.sparse.minor", "0") +
		record("GNU.sparse.name", "manifest.json") + record("GNU.sparse.realsize", "5000000")
	var b bytes.Buffer
	w := tar.NewWriter(&b)
	for _, m := range []struct{ name, text string }{{"x", says}, {"manifest.json", "0\n" + strings.Repeat("\x00", 510)}} {
		h := &tar.Header{Name: m.name, Typeflag: tar.TypeReg, Size: int64(len(m.text)), Format: tar.FormatUSTAR}
		if err := w.WriteHeader(h); err != nil {
			tb.Fatal(err)
		}
		if _, err := io.WriteString(w, m.text); err != nil {
			tb.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		tb.Fatal(err)
	}
	data := b.Bytes()
	data[156] = tar.TypeXHeader // no writer makes one
	sum := 0
	copy(data[148:156], "        ")
	for _, c := range data[:512] {
		sum += int(c)
	}
	copy(data[148:156], fmt.Sprintf("%06o\x00 ", sum))
	return data
}

// TestSparse refuses a member that has fewer bytes in the file than it says: what
// is read would have no bound.
func TestSparse(t *testing.T) {
	data := isSparse(t)
	h, err := tar.NewReader(bytes.NewReader(data)).Next()
	if err != nil || h.Size != 5_000_000 || h.Typeflag != tar.TypeReg {
		t.Fatalf("%+v %v", h, err)
	}
	_, err = runarchive.OpenPack(bytes.NewReader(data))
	if err == nil || !strings.Contains(err.Error(), "no plain file") {
		t.Errorf("%v", err)
	}
}

// FuzzOpen reads whatever somebody was given: it never fails otherwise than by an
// error, and what it hands over is what the hashes say.
func FuzzOpen(f *testing.F) {
	f.Add(written(f))
	var b bytes.Buffer
	w := tar.NewWriter(&b)
	_ = w.WriteHeader(&tar.Header{Name: "../../etc/passwd", Typeflag: tar.TypeSymlink, Linkname: "/"})
	_ = w.Close()
	f.Add(b.Bytes())
	f.Add(isSparse(f))
	f.Fuzz(func(t *testing.T, data []byte) {
		p, err := runarchive.OpenPack(bytes.NewReader(data))
		if err != nil {
			return
		}
		if p.Manifest.Format != runarchive.Format || len(p.Events) != p.Manifest.Events {
			t.Errorf("%+v with %d events", p.Manifest, len(p.Events))
		}
		_ = p.ReadBlobs(func(hash string, data []byte) error {
			if sum := sha256.Sum256(data); hex.EncodeToString(sum[:]) != hash {
				t.Errorf("blob %q is not what its name says", hash)
			}
			return nil
		})
		_ = p.ReadBundle(func(r io.Reader) error { _, err := io.Copy(io.Discard, r); return err })
	})
}
