package proc

import (
	"os"
	"testing"
)

// TestInsideIsNotTheMachine looks at a process that has no view of its own
// yet, as the first one of a jail while it starts: what else runs on the
// machine is not what the jail uses.
func TestInsideIsNotTheMachine(t *testing.T) {
	if u, ok := NamespaceUsage(os.Getpid(), true); ok || u != (ResourceUsage{}) {
		t.Errorf("this process seems to be a jail that uses %+v", u)
	}
	if u := DescendantUsage(os.Getpid(), true); u.Threads == 0 || u.Memory == 0 {
		t.Errorf("control: this process uses %+v", u)
	}
}
