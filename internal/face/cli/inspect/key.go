package inspect

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/nexus-ai-builder/nexus/internal/app"
	"github.com/nexus-ai-builder/nexus/internal/app/provider"
	"github.com/nexus-ai-builder/nexus/internal/face/cli/console"
	"github.com/nexus-ai-builder/nexus/internal/sys/apikey"
	"github.com/nexus-ai-builder/nexus/internal/view"
)

func keyCommand(a *console.Console) *cobra.Command {
	return a.ParentCommand("key", "store the keys of providers", keySetCommand(a), keyListCommand(a), keyRemoveCommand(a))
}

func keySetCommand(a *console.Console) *cobra.Command {
	var ring bool
	c := a.Command("set PROVIDER [--keyring]", "store a provider's key, read from standard input", func(ctx context.Context, args []string) error {
		if err := apikey.CheckProvider(args[0]); err != nil { // before asking for a key
			return err
		}
		value, err := a.ReadSecret(ctx, "key of "+args[0]+": ")
		if err != nil {
			return err
		}
		store, to, where := a.Keys(), apikey.SourceFile, ""
		if where = store.File; ring {
			to, where = apikey.SourceKeyring, "the keyring"
		}
		if err := store.Set(args[0], value, to); err != nil {
			return err
		}
		a.Say("the key of %s is stored in %s", args[0], where)
		return nil
	}, console.CodeOK, console.CodeFailed, console.CodeUsage)
	c.Args = console.ArgCount(1, 1)
	c.Flags().BoolVar(&ring, "keyring", false, "store it in the desktop's keyring instead of a file")
	return c
}

// storedKey is a key in the JSON output of `config key list`.
type storedKey struct {
	Provider string           `json:"provider"`
	Source   apikey.KeySource `json:"source"`
	Where    string           `json:"where"`
	Tail     string           `json:"tail,omitzero"` // last characters of a long key
	Used     bool             `json:"used"`          // no other key overrides it
}

func keyListCommand(a *console.Console) *cobra.Command {
	c := a.Command("list [--json]", "list the providers that have a key, and where it comes from", func(context.Context, []string) error {
		settings, _, err := a.LoadSettings()
		if err != nil {
			return err
		}
		keys, err := a.Keys().List(provider.KeyVariables(settings))
		if err != nil {
			return err
		}
		all := []storedKey{}
		for i, k := range keys {
			all = append(all, storedKey{k.Provider, k.Source, k.Where, k.LastCharacters(), i == 0 || keys[i-1].Provider != k.Provider})
		}
		return a.Answer(map[string][]storedKey{"keys": all}, func(s view.Style) string { return keyTable(s, all) })
	}, console.CodeOK, console.CodeFailed, console.CodeUsage)
	a.JSONFlag(c)
	return c
}

func keyTable(s view.Style, all []storedKey) string {
	if len(all) == 0 {
		return "no provider has a key\n"
	}
	rows := make([][]string, 0, len(all))
	for _, k := range all {
		tail, used := "", ""
		if k.Tail != "" {
			tail = "..." + k.Tail
		}
		if !k.Used {
			used = "not used"
		}
		rows = append(rows, []string{view.Clean(k.Provider), string(k.Source), view.Clean(k.Where), tail, used})
	}
	return view.DrawTable(s, []string{"provider", "source", "where", "key", ""}, rows)
}

func keyRemoveCommand(a *console.Console) *cobra.Command {
	c := a.Command("remove PROVIDER", "remove a provider's key from the file and the keyring", func(_ context.Context, args []string) error {
		from, err := a.Keys().Remove(args[0])
		if err != nil {
			return err
		}
		if len(from) == 0 {
			return app.NotFoundError("key of", args[0], "nexus config key list shows all keys. Remove a key in the environment there.")
		}
		names := make([]string, len(from))
		for i, f := range from {
			names[i] = string(f)
		}
		a.Say("%s", fmt.Sprintf("removed the key of %s from the %s", args[0], strings.Join(names, " and the ")))
		return nil
	}, console.CodeOK, console.CodeFailed, console.CodeUsage)
	c.Args = console.ArgCount(1, 1)
	return c
}
