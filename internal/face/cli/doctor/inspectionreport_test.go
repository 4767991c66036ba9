package doctor

import (
	"errors"
	"strings"
	"testing"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/work/gate"
)

func TestErr(t *testing.T) {
	fine, worth := Check{Name: "a", State: Fine}, Check{Name: "b", State: Notice, Detail: "odd", Hint: "Mend it."}
	bad := checkOf("c", "", &nexus.Error{Code: nexus.CodeNoKey, Message: "no key", Hint: "Set one."})
	for _, c := range []struct {
		strict bool
		checks []Check
		code   nexus.ErrorCode
		says   string
	}{
		{false, []Check{fine, worth}, "", ""},
		{true, []Check{fine}, "", ""},
		{true, []Check{fine, worth}, nexus.CodeNotReady, "b: odd"},
		{false, []Check{worth, bad}, nexus.CodeNoKey, "no key"},
		{true, []Check{bad, worth}, nexus.CodeNoKey, "2 problems keep the run from starting: c: no key; b: odd"},
		{false, []Check{{Name: "t", Detail: "no tests", ask: "Start?"}, bad}, nexus.CodeNoKey, "no key"},
		{false, []Check{{Name: "t", Detail: "no tests", ask: "Start?"}}, nexus.CodeNotReady, "t: no tests"},
		{false, []Check{{Name: "d", Detail: "nobody said"}}, nexus.CodeNotReady, "d: nobody said"}, // the zero state blocks
	} {
		r := InspectionReport{Strict: c.strict, Checks: c.checks}
		switch err := r.BlockingError(); {
		case c.code == "":
			if err != nil {
				t.Errorf("%+v: %v", c.checks, err)
			}
		case !errors.Is(err, &nexus.Error{Code: c.code}) || !strings.Contains(err.Error(), c.says):
			t.Errorf("%+v: %v", c.checks, err)
		}
		if got := len(r.Notices()); got > 0 && c.strict {
			t.Errorf("%d notices of a strict look", got)
		}
	}
}

func TestProgram(t *testing.T) {
	for args, want := range map[string]string{
		"go test ./...": "go", "sh -c|npm test": "npm", "sh -c|./build.sh": "", "sh -c|CGO_ENABLED=0 go build": "", "sh -c|(cd x && make)": "", "": "", "sh -c|": "",
	} {
		words := strings.Fields(args)
		if line, ok := strings.CutPrefix(args, "sh -c|"); ok {
			words = []string{"sh", "-c", line}
		}
		if got := (gate.QualityGate{Args: words}).ProgramName(); got != want {
			t.Errorf("%q begins with %q, want %q", args, got, want)
		}
	}
}
