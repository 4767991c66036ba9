package progress

import (
	"io"
	"os"
	"testing"
)

// TestLetsGoOfTheKeyboard holds that nothing reads the keyboard any more once answers are
// no longer heard, also in the middle of a read, and that a reader that cannot be
// interrupted is not waited for.
func TestLetsGoOfTheKeyboard(t *testing.T) {
	in, keys, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	defer keys.Close()
	for range 20 {
		lines, next := make(chan string), make(chan bool, 1)
		letGo := readLines(t.Context(), in, lines, next)
		next <- true
		if _, err := keys.WriteString("yes\n"); err != nil {
			t.Fatal(err)
		}
		if line := <-lines; line != "yes" {
			t.Fatalf("%q", line)
		}
		next <- true
		letGo()
		select {
		case _, more := <-lines:
			if more {
				t.Error("a line that was not typed")
			}
		default:
			t.Fatal("the keyboard is still read")
		}
	}
	played, person := io.Pipe()
	defer person.Close()
	next := make(chan bool, 1)
	next <- true
	readLines(t.Context(), played, make(chan string), next)()
}
