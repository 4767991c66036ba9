package cli

import (
	"bytes"
	"encoding/xml"
	"errors"
	"image/png"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
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

// TestDocsPictureIsNew holds that the picture of the terminal interface names its views,
// tabs, counts and keys as the interface does now, in frames that its tests compare: else
// make pictures records all pictures again.
func TestDocsPictureIsNew(t *testing.T) {
	frames := ""
	all, err := filepath.Glob(filepath.Join("..", "tui", "testdata", "*.txt"))
	if err != nil || len(all) == 0 {
		t.Fatalf("%d frames, %v", len(all), err)
	}
	for _, path := range all {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		frames += string(text)
	}
	words := []func(string) string{ // what differs from run to run is left out
		func(s string) string { return regexp.MustCompile(`\b([2-9]|[0-9]{2,})\b`).ReplaceAllString(s, "2") },
		func(s string) string {
			return strings.Join(strings.Fields(strings.NewReplacer("[", " ", "]", " ").Replace(s)), " ")
		},
		func(s string) string { return strings.ReplaceAll(s, "(1)", "") },
	}
	for _, plain := range words {
		frames = plain(frames)
	}
	rows := linesOf(t, filepath.Join("..", "..", "..", "docs", "pictures", "watch.svg"))
	_, tabs, _ := strings.Cut(rows[2], "\u2502")
	counts := slices.DeleteFunc(strings.Split(rows[0], "\u00b7"), func(part string) bool {
		return !regexp.MustCompile(`^\W+[0-9]+ [a-z]`).MatchString(part)
	})
	if len(counts) < 2 {
		t.Errorf("the picture has the counts %q", counts)
	}
	for _, shown := range append(counts, rows[1], tabs) {
		for _, plain := range words {
			shown = plain(shown)
		}
		if shown == "" || !strings.Contains(frames, shown) {
			t.Errorf("the picture shows %q, and no frame does: run make pictures", shown)
		}
	}
}

// linesOf returns the lines of text in a picture, from top to bottom.
func linesOf(t *testing.T, path string) (lines []string) {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var picture struct {
		Text []struct {
			Y     string `xml:"y,attr"`
			Words string `xml:",chardata"`
		} `xml:"text"`
	}
	if err := xml.Unmarshal(data, &picture); err != nil {
		t.Fatal(err)
	}
	y := ""
	for _, part := range picture.Text {
		if part.Y != y || len(lines) == 0 {
			y, lines = part.Y, append(lines, "")
		}
		lines[len(lines)-1] += strings.ReplaceAll(part.Words, "\u00a0", " ")
	}
	if len(lines) < 4 {
		t.Fatalf("%s has %d lines", path, len(lines))
	}
	return lines
}
