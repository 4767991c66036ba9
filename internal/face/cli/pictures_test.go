package cli

import (
	"bytes"
	"encoding/xml"
	"errors"
	"image/png"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// maxPicture is how many bytes a picture may have.
const maxPicture = 150 << 10

// TestDocsPictures holds that the pictures of the documentation are there, can be
// read, are small, show nothing of the machine that recorded them, and are shown:
// make pictures records them.
func TestDocsPictures(t *testing.T) {
	root := filepath.Join("..", "..", "..")
	readme, err := os.ReadFile(filepath.Join(root, "README.md"))
	if err != nil {
		t.Fatal(err)
	}
	pages, err := filepath.Glob(filepath.Join(root, "docs", "*.md"))
	if err != nil {
		t.Fatal(err)
	}
	shown := ""
	for _, page := range pages {
		text, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		shown += string(text)
	}
	for _, name := range []string{"watch.svg", "board.png"} {
		if !strings.Contains(string(readme), "](docs/pictures/"+name+")") {
			t.Errorf("the README does not show docs/pictures/%s", name)
		}
	}
	all, err := filepath.Glob(filepath.Join(root, "docs", "pictures", "*"))
	if err != nil || len(all) < 4 {
		t.Fatalf("%d pictures, %v", len(all), err)
	}
	for _, path := range all {
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if len(data) > maxPicture || len(data) < 1000 {
			t.Errorf("%s has %d bytes, at most %d are right", path, len(data), maxPicture)
		}
		if err := readable(path, data); err != nil {
			t.Errorf("%s: %v", path, err)
		}
		if name := filepath.Base(path); !strings.Contains(shown, "](pictures/"+name+")") {
			t.Errorf("no page of docs shows %s", name)
		}
	}
}

// readable reads a picture as whoever shows it does.
func readable(path string, data []byte) error {
	if strings.HasSuffix(path, ".png") {
		_, err := png.Decode(bytes.NewReader(data))
		return err
	}
	if bytes.Contains(data, []byte("/tmp/")) || bytes.Contains(data, []byte("/home/")) {
		return errors.New("it has a path of the machine that recorded it")
	}
	for d := xml.NewDecoder(bytes.NewReader(data)); ; {
		if _, err := d.Token(); errors.Is(err, io.EOF) {
			return nil
		} else if err != nil {
			return err
		}
	}
}
