package console

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/nexus-ai-builder/nexus/internal/face/view"
)

// leastKey is the annotation of a flag with a least value.
const leastKey = "nexus-least"

// Least lets a number that is given be least or more, where no number below
// zero makes sense or zero stands for none.
func Least(c *cobra.Command, flag string, least int) {
	_ = c.Flags().SetAnnotation(flag, leastKey, []string{fmt.Sprint(least)}) // the flag is there: its command has just made it
}

// naming are flags that name what a command is about. One that is given and
// empty is a variable of a script that nobody set, and what it was to name is
// not what would be taken without it.
func naming() []string {
	return []string{"base", "commit", "dir", "file", "from", "own", "plan", "record", "replay", "round", "run", "stderr", "tree", "worktree"}
}

// checkFlagValues refuses flags with values that cannot be meant.
func checkFlagValues(c *cobra.Command) error {
	if err := c.ValidateFlagGroups(); err != nil {
		return usage(c, together(err))
	}
	var all []error
	c.Flags().Visit(func(f *pflag.Flag) { all = append(all, odd(c, f)) })
	return errors.Join(all...)
}

func odd(c *cobra.Command, f *pflag.Flag) error {
	text := strings.TrimSpace(f.Value.String())
	switch f.Value.Type() {
	case "string":
		if text == "" && slices.Contains(naming(), f.Name) {
			return usage(c, fmt.Sprintf("--%s is given, and empty", f.Name))
		}
	case "int", "int64", "duration":
		least := "0"
		if set := f.Annotations[leastKey]; len(set) == 1 {
			least = set[0]
		}
		var n, low int64
		_, err := fmt.Sscan(text, &n) // of a duration, what it begins with
		_, err2 := fmt.Sscan(least, &low)
		if errors.Join(err, err2) == nil && n < low {
			return usage(c, fmt.Sprintf("--%s %s is less than %s", f.Name, text, least))
		}
	}
	return nil
}

// together says which flags cannot be given with each other.
func together(err error) string {
	m := regexp.MustCompile(`\[([^]]*)\] were all set`).FindStringSubmatch(err.Error())
	if m == nil {
		return err.Error()
	}
	return "--" + strings.Join(strings.Fields(m[1]), " and --") + " cannot be given together"
}

// unfit says in words of people what the library says about a value that a flag
// cannot have; empty where it is about something else.
func unfit(err error) string {
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
	return fmt.Sprintf("%s wants %s, not %s", m[2], wants, view.Quote(m[1]))
}
