package runscmd

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

// tokenCommand returns the commands that manage the users of the server.
func tokenCommand(a *console.Console) *cobra.Command {
	book := func(ctx context.Context, f func(access.TokenStore) error) error {
		p, err := a.OpenRepository(ctx, app.CreateAccess)
		if err != nil {
			return err
		}
		defer p.Close()
		return f(access.TokenStoreOf(p.State))
	}
	role := ""
	add := a.Command("add NAME --role ROLE [--json]", "give a person a token for the web server, and print it once", func(ctx context.Context, args []string) error {
		return book(ctx, func(b access.TokenStore) error {
			p, now := access.Person{Name: args[0], Role: access.Role(role)}, a.Now()
			token, err := b.Add(p, now)
			if err != nil {
				return err
			}
			return a.Answer(tokenHolder{p.Name, p.Role, p.Actor(), now.UTC(), token}, func(view.Style) string {
				return fmt.Sprintf("the token of %s (%s), printed this once: %s\n", p.Name, p.Role, token)
			})
		})
	}, console.CodeOK, console.CodeFailed, console.CodeUsage)
	add.Args = console.ArgCount(1, 1)
	add.Flags().StringVar(&role, "role", string(access.Read), "`ROLE` of the person: read, answer, steer or admin")
	list := a.Command("list [--json]", "list the people who have a token for the web server", func(ctx context.Context, _ []string) error {
		return book(ctx, func(b access.TokenStore) error {
			all, err := b.Entries()
			if err != nil {
				return err
			}
			told := []tokenHolder{}
			for _, e := range all {
				told = append(told, tokenHolder{Name: e.Name, Role: e.Role, Actor: e.Actor(), Made: e.Made})
			}
			return a.Answer(map[string]any{"persons": told}, func(view.Style) string { return drawHolders(told) })
		})
	}, console.CodeOK, console.CodeFailed, console.CodeUsage)
	remove := a.Command("remove NAME [--json]", "revoke a person's token for the web server, at once", func(ctx context.Context, args []string) error {
		return book(ctx, func(b access.TokenStore) error {
			if err := b.Remove(args[0]); err != nil {
				return err
			}
			return a.Answer(map[string]any{"removed": args[0]}, func(view.Style) string { return "removed: " + args[0] + "\n" })
		})
	}, console.CodeOK, console.CodeFailed, console.CodeUsage)
	remove.Args = console.ArgCount(1, 1)
	for _, c := range []*cobra.Command{add, list, remove} {
		a.JSONFlag(c)
	}
	return a.ParentCommand("token", "manage the people who may use the web server", add, list, remove)
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
