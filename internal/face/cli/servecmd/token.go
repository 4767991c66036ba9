package servecmd

import (
	"context"
	"fmt"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"github.com/nexus-ai-builder/nexus/internal/app"
	"github.com/nexus-ai-builder/nexus/internal/face/cli/console"
	"github.com/nexus-ai-builder/nexus/internal/face/web/access"
	"github.com/nexus-ai-builder/nexus/internal/view"
)

// tokenHolder is a person in the output of serve token.
type tokenHolder struct {
	Name  string      `json:"name"`
	Role  access.Role `json:"role"`
	Actor string      `json:"actor"` // the author of their actions in the journal
	Made  time.Time   `json:"made,omitzero"`
	Token string      `json:"token,omitempty"` // printed once
}

// NewToken returns the commands that manage the users of the server.
func NewToken(c *console.Console) *cobra.Command {
	return c.ParentCommand("token", "manage the people who may use the web server", NewTokenAdd(c, nil), NewTokenList(c, nil), NewTokenRemove(c, nil))
}

// openTokens passes the tokens of the repository to f.
func openTokens(ctx context.Context, a *console.Console, f func(access.TokenStore) error) error {
	p, err := a.OpenRepository(ctx, app.CreateAccess)
	if err != nil {
		return err
	}
	defer p.Close()
	return f(access.TokenStoreOf(p.State))
}

// TokenAddOptions are the options of nexus serve token add.
type TokenAddOptions struct {
	Console *console.Console
	Name    string
	Role    access.Role
}

// NewTokenAdd returns the command that gives a person a token. It calls run with the parsed options; nil
// runs the command.
func NewTokenAdd(c *console.Console, run func(context.Context, *TokenAddOptions) error) *cobra.Command {
	o, role := &TokenAddOptions{Console: c}, ""
	if run == nil {
		run = addToken
	}
	const use, short = "add NAME --role ROLE [--json]", "give a person a token for the web server, and print it once"
	command := c.Command(use, short, func(ctx context.Context, args []string) error {
		o.Name, o.Role = args[0], access.Role(role)
		return run(ctx, o)
	}, console.CodeOK, console.CodeFailed, console.CodeUsage)
	command.Args = console.ArgCount(1, 1)
	command.Flags().StringVar(&role, "role", string(access.Read), "`ROLE` of the person: read, answer, steer or admin")
	c.JSONFlag(command)
	return command
}

// addToken makes the token.
func addToken(ctx context.Context, o *TokenAddOptions) error {
	return openTokens(ctx, o.Console, func(b access.TokenStore) error {
		p, now := access.TokenOwner{Name: o.Name, Role: o.Role}, o.Console.Now()
		token, err := b.AddPerson(p, now)
		if err != nil {
			return err
		}
		return o.Console.Answer(tokenHolder{p.Name, p.Role, p.Actor(), now.UTC(), token}, func(view.OutputStyle) string {
			return fmt.Sprintf("the token of %s (%s), printed this once: %s\n", p.Name, p.Role, token)
		})
	})
}

// TokenListOptions are the options of nexus serve token list.
type TokenListOptions struct {
	Console *console.Console
}

// NewTokenList returns the command that lists the people with a token. It calls run with the parsed
// options; nil runs the command.
func NewTokenList(c *console.Console, run func(context.Context, *TokenListOptions) error) *cobra.Command {
	o := &TokenListOptions{Console: c}
	if run == nil {
		run = listTokens
	}
	command := c.Command("list [--json]", "list the people who have a token for the web server",
		func(ctx context.Context, _ []string) error { return run(ctx, o) }, console.CodeOK, console.CodeFailed, console.CodeUsage)
	c.JSONFlag(command)
	return command
}

// listTokens lists the people who have a token.
func listTokens(ctx context.Context, o *TokenListOptions) error {
	return openTokens(ctx, o.Console, func(b access.TokenStore) error {
		all, err := b.Entries()
		if err != nil {
			return err
		}
		told := []tokenHolder{}
		for _, e := range all {
			told = append(told, tokenHolder{Name: e.Name, Role: e.Role, Actor: e.Actor(), Made: e.Made})
		}
		return o.Console.Answer(map[string]any{"persons": told}, func(view.OutputStyle) string { return drawHolders(told) })
	})
}

// TokenRemoveOptions are the options of nexus serve token remove.
type TokenRemoveOptions struct {
	Console *console.Console
	Name    string
}

// NewTokenRemove returns the command that revokes a token. It calls run with the parsed options; nil
// runs the command.
func NewTokenRemove(c *console.Console, run func(context.Context, *TokenRemoveOptions) error) *cobra.Command {
	o := &TokenRemoveOptions{Console: c}
	if run == nil {
		run = removeToken
	}
	const use, short = "remove NAME [--json]", "revoke a person's token for the web server, at once"
	command := c.Command(use, short, func(ctx context.Context, args []string) error {
		o.Name = args[0]
		return run(ctx, o)
	}, console.CodeOK, console.CodeFailed, console.CodeUsage)
	command.Args = console.ArgCount(1, 1)
	c.JSONFlag(command)
	return command
}

// removeToken revokes the token.
func removeToken(ctx context.Context, o *TokenRemoveOptions) error {
	return openTokens(ctx, o.Console, func(b access.TokenStore) error {
		if err := b.Remove(o.Name); err != nil {
			return err
		}
		return o.Console.Answer(map[string]any{"removed": o.Name}, func(view.OutputStyle) string { return "removed: " + o.Name + "\n" })
	})
}

func drawHolders(all []tokenHolder) string {
	if len(all) == 0 {
		return "only the person who starts the server; add others with nexus serve token add NAME --role ROLE\n"
	}
	var b strings.Builder
	w := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	_, _ = fmt.Fprintln(w, "name\trole\tactor\tsince")
	for _, h := range all {
		_, _ = fmt.Fprintf(w, "%s\t%s\t%s\t%s\n", h.Name, h.Role, h.Actor, h.Made.Format(time.DateOnly))
	}
	_ = w.Flush() // into memory
	return b.String()
}
