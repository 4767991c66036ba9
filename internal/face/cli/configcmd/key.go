package configcmd

import (
	"context"
	"strings"

	"github.com/spf13/cobra"

	"github.com/nexus-ai-builder/nexus/internal/app"
	"github.com/nexus-ai-builder/nexus/internal/app/provider"
	"github.com/nexus-ai-builder/nexus/internal/face/cli/console"
	"github.com/nexus-ai-builder/nexus/internal/sys/apikey"
	"github.com/nexus-ai-builder/nexus/internal/view"
)

// NewKey returns the command "nexus config key" with those below it.
func NewKey(c *console.Console) *cobra.Command {
	return c.ParentCommand("key", "store the keys of providers", NewKeySet(c, nil), NewKeyList(c, nil), NewKeyRemove(c, nil))
}

// KeySetOptions are the options of "nexus config key set".
type KeySetOptions struct {
	Console  *console.Console
	Provider string
	Keyring  bool // store the key in the desktop's keyring instead of a file
}

// NewKeySet returns the command "nexus config key set". It calls run with the parsed options; nil
// runs the command.
func NewKeySet(c *console.Console, run func(context.Context, *KeySetOptions) error) *cobra.Command {
	o := &KeySetOptions{Console: c}
	if run == nil {
		run = storeKey
	}
	command := c.Command("set PROVIDER [--keyring]", "store a provider's key, read from standard input",
		func(ctx context.Context, args []string) error {
			o.Provider = args[0]
			return run(ctx, o)
		}, console.CodeOK, console.CodeFailed, console.CodeUsage)
	command.Args = console.ArgCount(1, 1)
	command.Flags().BoolVar(&o.Keyring, "keyring", false, "store it in the desktop's keyring instead of a file")
	return command
}

// storeKey asks for a key and stores it.
func storeKey(ctx context.Context, o *KeySetOptions) error {
	if err := apikey.CheckProvider(o.Provider); err != nil { // before asking for a key
		return err
	}
	value, err := o.Console.ReadSecret(ctx, "key of "+o.Provider+": ")
	if err != nil {
		return err
	}
	store, to, where := o.Console.KeyStore(), apikey.SourceFile, ""
	if where = store.File; o.Keyring {
		to, where = apikey.SourceKeyring, "the keyring"
	}
	if err := store.Set(o.Provider, value, to); err != nil {
		return err
	}
	o.Console.Say("the key of %s is stored in %s", o.Provider, where)
	return nil
}

// KeyListOptions are the options of "nexus config key list".
type KeyListOptions struct {
	Console *console.Console
}

// NewKeyList returns the command "nexus config key list". It calls run with the parsed options; nil
// runs the command.
func NewKeyList(c *console.Console, run func(context.Context, *KeyListOptions) error) *cobra.Command {
	o := &KeyListOptions{Console: c}
	if run == nil {
		run = listKeys
	}
	command := c.Command("list [--json]", "list the providers that have a key, and where it comes from",
		func(ctx context.Context, _ []string) error { return run(ctx, o) }, console.CodeOK, console.CodeFailed, console.CodeUsage)
	c.JSONFlag(command)
	return command
}

// storedKey is a key in the JSON output of `config key list`.
type storedKey struct {
	Provider string           `json:"provider"`
	Source   apikey.KeySource `json:"source"`
	Where    string           `json:"where"`
	Tail     string           `json:"tail,omitzero"` // last characters of a long key
	Used     bool             `json:"used"`          // no other key overrides it
}

// listKeys prints which providers have a key, never the keys.
func listKeys(_ context.Context, o *KeyListOptions) error {
	settings, _, err := o.Console.LoadSettings()
	if err != nil {
		return err
	}
	keys, err := o.Console.KeyStore().List(provider.ProviderKeyVariables(settings))
	if err != nil {
		return err
	}
	all := []storedKey{}
	for i, k := range keys {
		all = append(all, storedKey{k.Provider, k.Source, k.Where, k.LastCharacters(), i == 0 || keys[i-1].Provider != k.Provider})
	}
	return o.Console.Answer(map[string][]storedKey{"keys": all}, func(s view.OutputStyle) string { return keyTable(s, all) })
}

func keyTable(s view.OutputStyle, all []storedKey) string {
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
		rows = append(rows, []string{view.EscapeForTerminal(k.Provider), string(k.Source), view.EscapeForTerminal(k.Where), tail, used})
	}
	return view.DrawTable(s, []string{"provider", "source", "where", "key", ""}, rows)
}

// KeyRemoveOptions are the options of "nexus config key remove".
type KeyRemoveOptions struct {
	Console  *console.Console
	Provider string
}

// NewKeyRemove returns the command "nexus config key remove". It calls run with the parsed options;
// nil runs the command.
func NewKeyRemove(c *console.Console, run func(context.Context, *KeyRemoveOptions) error) *cobra.Command {
	o := &KeyRemoveOptions{Console: c}
	if run == nil {
		run = removeKey
	}
	command := c.Command("remove PROVIDER", "remove a provider's key from the file and the keyring",
		func(ctx context.Context, args []string) error {
			o.Provider = args[0]
			return run(ctx, o)
		}, console.CodeOK, console.CodeFailed, console.CodeUsage)
	command.Args = console.ArgCount(1, 1)
	return command
}

// removeKey removes a provider's key wherever it is stored.
func removeKey(_ context.Context, o *KeyRemoveOptions) error {
	from, err := o.Console.KeyStore().Remove(o.Provider)
	if err != nil {
		return err
	}
	if len(from) == 0 {
		return app.NotFoundError("key of", o.Provider, "nexus config key list shows all keys. Remove a key in the environment there.")
	}
	names := make([]string, len(from))
	for i, f := range from {
		names[i] = string(f)
	}
	o.Console.Say("removed the key of %s from the %s", o.Provider, strings.Join(names, " and the "))
	return nil
}
