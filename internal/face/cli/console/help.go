package console

import (
	"cmp"
	"embed"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/sys/spelling"
	"github.com/nexus-ai-builder/nexus/internal/view"
)

// texts contains one help text per command: its description and, after a line "Examples:", its
// examples.
//
//go:embed help/*.txt
var texts embed.FS

// HelpText returns a command's long text and its examples.
func HelpText(c *cobra.Command) (long, examples string) {
	name := strings.ReplaceAll(cmp.Or(strings.TrimPrefix(c.CommandPath(), "nexus "), "nexus"), " ", "-")
	data, err := texts.ReadFile("help/" + name + ".txt")
	if err != nil {
		return c.Short, ""
	}
	long, examples, _ = strings.Cut(string(data), "\nExamples:\n")
	return strings.TrimSpace(long), strings.TrimRight(examples, "\n")
}

// printHelp prints a command's page.
func (a *Console) printHelp(c *cobra.Command, _ []string) {
	if rest := c.Flags().Args(); len(rest) > 0 && c.HasSubCommands() {
		a.Lost = unknownCommand(c, rest[0])
		return
	}
	s := a.Style(a.Out)
	s.Color = s.Color && !s.Plain
	_ = a.Print(HelpPage(c, s))
}

// HelpPage returns the full help page of a command.
func HelpPage(c *cobra.Command, s view.OutputStyle) string {
	var b strings.Builder
	long, examples := HelpText(c)
	if old := replacementText(c); old != "" {
		long = old + "."
	}
	fmt.Fprintf(&b, "%s\n\n%s\n  %s\n", long, s.Bold("Usage:"), c.UseLine())
	if c.HasAvailableSubCommands() {
		fmt.Fprintf(&b, "  %s COMMAND\n", c.CommandPath())
		if len(c.Groups()) == 0 {
			fmt.Fprintf(&b, "\n%s\n", s.Bold("Commands:"))
			printCommands(&b, c.Commands())
		} else {
			fmt.Fprintf(&b, "\n%s\n", s.Bold("Everyday commands:"))
			printCommands(&b, everydayCommands(c))
			b.WriteString("\nnexus help all lists all commands, nexus help COMMAND describes one.\n")
		}
	}
	if examples != "" {
		fmt.Fprintf(&b, "\n%s\n%s\n", s.Bold("Examples:"), examples)
	}
	if flags := c.LocalNonPersistentFlags(); flags.HasAvailableFlags() {
		fmt.Fprintf(&b, "\n%s\n%s", s.Bold("Flags:"), flags.FlagUsages())
	}
	fmt.Fprintf(&b, "\n%s\n%s", s.Bold("Flags of every command:"), c.Root().PersistentFlags().FlagUsages())
	fmt.Fprintf(&b, "\n%s\n", s.Bold("Exit codes:"))
	for code := range strings.FieldsSeq(c.Annotations[codesKey]) {
		fmt.Fprintf(&b, "  %-4s %s\n", code, CodeMeaning(code))
	}
	return b.String()
}

// EverydayCommands are the commands that nexus --help lists, in the order of their use.
var EverydayCommands = []string{"run", "quick", "check", "status", "watch", "logs", "diff", "land", "undo", "resume", "cost", "doctor"} //nolint:gochecknoglobals // a constant list

func everydayCommands(root *cobra.Command) []*cobra.Command {
	var found []*cobra.Command
	for _, name := range EverydayCommands {
		if c, _, err := root.Find([]string{name}); err == nil {
			found = append(found, c)
		}
	}
	return found
}

// CommandList returns all commands of the root with their purposes: the everyday commands, then
// the rest by group.
func CommandList(root *cobra.Command, s view.OutputStyle) string {
	var b strings.Builder
	everyday := everydayCommands(root)
	fmt.Fprintf(&b, "%s\n", s.Bold("Everyday commands:"))
	printCommands(&b, everyday)
	for _, g := range root.Groups() {
		fmt.Fprintf(&b, "\n%s\n", s.Bold(g.Title))
		printCommands(&b, slices.DeleteFunc(slices.Clone(root.Commands()), func(c *cobra.Command) bool {
			return c.GroupID != g.ID || slices.Contains(everyday, c)
		}))
	}
	b.WriteString("\nnexus help COMMAND describes a command.\n")
	return b.String()
}

func printCommands(b *strings.Builder, commands []*cobra.Command) {
	for _, c := range commands {
		if c.IsAvailableCommand() {
			fmt.Fprintf(b, "  %-12s %s\n", c.Name(), c.Short)
		}
	}
}

// ArgCount returns a check that a command has between least and most arguments; a negative most
// means no limit.
func ArgCount(least, most int) cobra.PositionalArgs {
	return func(c *cobra.Command, args []string) error {
		switch {
		case len(args) < least:
			return usageError(c, fmt.Sprintf("%s needs %s", c.CommandPath(), strings.TrimPrefix(c.UseLine(), c.CommandPath()+" ")))
		case most >= 0 && len(args) > most:
			return usageError(c, fmt.Sprintf("%s does not take %s", c.CommandPath(), view.QuoteForTerminal(args[most])))
		default:
			return nil
		}
	}
}

func usageError(c *cobra.Command, message string) error {
	return &nexus.Error{
		Code: nexus.CodeInvalidInput, Message: message,
		Hint: fmt.Sprintf("See %q.", c.CommandPath()+" --help"),
	}
}

func unknownCommand(c *cobra.Command, name string) error {
	message := fmt.Sprintf("unknown command %s for %s", view.QuoteForTerminal(name), c.CommandPath())
	c.SuggestionsMinimumDistance = 2
	if near := c.SuggestionsFor(name); len(near) > 0 {
		return &nexus.Error{Code: nexus.CodeInvalidInput, Message: message, Hint: fmt.Sprintf("Did you mean %q?", c.CommandPath()+" "+near[0])}
	}
	return usageError(c, message)
}

func unknownFlag(c *cobra.Command, err error) error {
	unknown, ok := strings.CutPrefix(err.Error(), "unknown flag: --")
	if !ok {
		return usageError(c, cmp.Or(flagValueText(err), err.Error()))
	}
	var names []string
	c.Flags().VisitAll(func(f *pflag.Flag) { names = append(names, f.Name) })
	message := fmt.Sprintf("unknown flag --%s for %s", view.EscapeForTerminal(unknown), c.CommandPath())
	near := slices.MinFunc(names, func(x, y string) int {
		return cmp.Compare(spelling.EditDistance(unknown, x), spelling.EditDistance(unknown, y))
	})
	if spelling.EditDistance(unknown, near) <= 1+len(unknown)/4 {
		return &nexus.Error{Code: nexus.CodeInvalidInput, Message: message, Hint: fmt.Sprintf("Did you mean --%s?", near)}
	}
	return usageError(c, message)
}
