package console

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/nexus-ai-builder/nexus/internal/view"
)

// leastKey is the annotation of a flag with a minimum value.
const leastKey = "nexus-least"

// SetFlagMinimum sets a minimum for a number flag, for numbers that cannot be negative, or for which zero
// means none.
func SetFlagMinimum(c *cobra.Command, flag string, least int) {
	// SetAnnotation cannot fail, because the command has just defined the flag.
	_ = c.Flags().SetAnnotation(flag, leastKey, []string{fmt.Sprint(least)})
}

// namingFlags returns the flags that name the subject of a command. A given but empty one is usually
// an unset variable of a script; without this check the command would act on its default subject
// instead.
func namingFlags() []string {
	return []string{"base", "commit", "dir", "file", "from", "own", "plan", "record", "replay", "round", "run", "stderr", "tree", "worktree"}
}

// checkFlagValues refuses flag values that cannot be intended.
func checkFlagValues(c *cobra.Command) error {
	if err := c.ValidateFlagGroups(); err != nil {
		return usageError(c, exclusiveFlagsText(err))
	}
	var all []error
	c.Flags().Visit(func(f *pflag.Flag) { all = append(all, oddValueError(c, f)) })
	return errors.Join(all...)
}

func oddValueError(c *cobra.Command, f *pflag.Flag) error {
	text := strings.TrimSpace(f.Value.String())
	switch f.Value.Type() {
	case "string":
		if text == "" && slices.Contains(namingFlags(), f.Name) {
			return usageError(c, fmt.Sprintf("--%s is given, and empty", f.Name))
		}
	case "int", "int64", "duration":
		least := "0"
		if set := f.Annotations[leastKey]; len(set) == 1 {
			least = set[0]
		}
		var n, low int64
		_, err := fmt.Sscan(text, &n) // of a duration, the leading number
		_, err2 := fmt.Sscan(least, &low)
		if errors.Join(err, err2) == nil && n < low {
			return usageError(c, fmt.Sprintf("--%s %s is less than %s", f.Name, text, least))
		}
	}
	return nil
}

// exclusiveFlagsText rewords an error about flags that exclude each other.
func exclusiveFlagsText(err error) string {
	m := regexp.MustCompile(`\[([^]]*)\] were all set`).FindStringSubmatch(err.Error())
	if m == nil {
		return err.Error()
	}
	return "--" + strings.Join(strings.Fields(m[1]), " and --") + " cannot be given together"
}

// flagValueText rewords the library's error about an invalid flag value; empty if the error is about
// something else.
func flagValueText(err error) string {
	m := regexp.MustCompile(`^invalid argument "(.*)" for "(?:-\w, )?(--[\w-]+)" flag: (time|strconv\.Parse\w+): `).FindStringSubmatch(err.Error())
	if m == nil {
		return ""
	}
	wants := "a whole number"
	switch m[3] {
	case "time":
		wants = "a time, such as 90s"
	case "strconv.ParseBool":
		wants = "true or false"
	}
	return fmt.Sprintf("%s wants %s, not %s", m[2], wants, view.QuoteForTerminal(m[1]))
}
