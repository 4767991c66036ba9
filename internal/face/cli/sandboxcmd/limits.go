package sandboxcmd

import (
	"fmt"
	"strconv"
	"time"

	"github.com/spf13/cobra"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/sys/config/valuekind"
	"github.com/nexus-ai-builder/nexus/internal/sys/sandbox"
)

// limitFlags are the flags that limit a command's resources.
type limitFlags struct {
	memory, fileSize, disk, tmp string
	processes, files            int
	cpu                         time.Duration
}

func (b *limitFlags) addFlags(c *cobra.Command) {
	f := c.Flags()
	f.StringVar(&b.memory, "memory", "", "maximum memory of all its processes, as a `SIZE` such as 512M or 2G")
	f.DurationVar(&b.cpu, "cpu", 0, "maximum processor `TIME` of all its processes, such as 90s")
	f.IntVar(&b.processes, "processes", 0, "maximum number `N` of processes and threads")
	f.StringVar(&b.fileSize, "file-size", "", "maximum `SIZE` of a file")
	f.IntVar(&b.files, "open-files", 0, "maximum number `N` of open files per process")
	f.StringVar(&b.disk, "disk", "", "maximum `SIZE` that it may add to the disk")
	f.StringVar(&b.tmp, "tmp", "", "maximum `SIZE` of its private /tmp")
}

// parse returns the limits; zero for a missing flag, which means the default.
func (b *limitFlags) parse() (l sandbox.ResourceLimits, err error) {
	if b.processes < 0 || b.files < 0 {
		return l, invalidSizeError(strconv.Itoa(min(b.processes, b.files)))
	}
	if b.cpu < 0 {
		return l, invalidSizeError(b.cpu.String())
	}
	l.Processes, l.OpenFiles, l.CPU = b.processes, b.files, b.cpu
	for _, x := range []struct {
		text string
		to   *int64
	}{{b.memory, &l.Memory}, {b.fileSize, &l.FileSize}, {b.disk, &l.Disk}, {b.tmp, &l.Tmp}} {
		if *x.to, err = parseSize(x.text); err != nil {
			return l, err
		}
	}
	return l, nil
}

// parseSize parses a number of bytes with a unit of K, M, G or T; 0 for no text.
func parseSize(text string) (int64, error) {
	if text == "" {
		return 0, nil
	}
	n, err := valuekind.ParseByteSize(text)
	if err != nil || n == 0 {
		return 0, invalidSizeError(text)
	}
	return n, nil
}

func invalidSizeError(text string) error {
	return &nexus.Error{
		Code: nexus.CodeInvalidInput, Message: fmt.Sprintf("%q is not a valid limit", text),
		Hint: "Give a number of bytes above 0, or one with K, M, G or T.",
	}
}
