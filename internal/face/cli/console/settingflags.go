package console

import (
	"errors"
	"strings"

	"github.com/spf13/cobra"

	"github.com/nexus-ai-builder/nexus/internal/sys/llm/directoryprovider"
)

// settingFlag is a flag that sets configuration keys.
type settingFlag struct {
	keys  []string
	value string
	name  string // of the value, for people
	flag  string
	to    *Console
}

// String implements pflag.Value.
func (k *settingFlag) String() string { return k.value }

// Type implements pflag.Value.
func (k *settingFlag) Type() string { return k.name }

// Set implements pflag.Value. The configuration checks the value.
func (k *settingFlag) Set(value string) error {
	if dir, ok := strings.CutPrefix(value, "bridge:"); ok && k.name == "PROVIDER/MODEL" {
		if dir == "" {
			return errors.New("a bridge needs a directory, such as bridge:/tmp/answers")
		}
		k.to.Set["providers.bridge.kind"], k.to.Set["providers.bridge.dir"] = "bridge", dir
		value = "bridge/" + directoryprovider.ModelName
	}
	if provider, model, ok := strings.Cut(value, "/"); k.name == "PROVIDER/MODEL" && (!ok || provider == "" || model == "") {
		return errors.New("a model has the form provider/model, such as anthropic/claude-haiku-5-5")
	}
	k.value = value
	for _, key := range k.keys {
		k.to.SetBy(key, value, k.flag)
	}
	return nil
}

// SetBy sets a configuration key on behalf of a flag.
func (a *Console) SetBy(key, value, flag string) {
	a.Set[key] = value
	if a.Named == nil {
		a.Named = map[string]string{}
	}
	a.Named[key] = "--" + flag
}

// SettingFlags adds flags to a command that set configuration keys.
func (a *Console) SettingFlags(c *cobra.Command, names ...string) {
	for _, name := range names {
		k := &settingFlag{flag: name, to: a}
		short, usage := "", ""
		switch name {
		case "parallel":
			short, k.name, usage, k.keys = "j", "N", "maximum number of attempts at once", []string{"limits.parallel"}
		case "budget":
			k.name, usage, k.keys = "USD", "maximum to spend, in dollars", []string{"budget.run"}
		case "max-time":
			k.name, usage, k.keys = "DURATION", "maximum time, such as 90m", []string{"limits.run_time"}
		case "max-turns":
			k.name, usage, k.keys = "N", "maximum number of model calls in a session", []string{"limits.turns"}
		case "model":
			short, k.name, usage, k.keys = "m", "PROVIDER/MODEL", "use this model for every tier; bridge:DIR writes requests to files in DIR and waits for answers", []string{"models.fast", "models.balanced", "models.strong"}
		case "from":
			k.name, usage, k.keys = "URL", "fetch the list from this address", []string{"models.list"}
		case "sandbox":
			k.name, usage, k.keys = "MODE", "sandbox for agents and gates: auto, native, bwrap, landlock or off", []string{"sandbox"}
		case "preset":
			k.name, usage, k.keys = "NAME", "defaults for settings that you did not set: conservative, balanced or aggressive", []string{"preset"}
		case "approval":
			k.name, usage, k.keys = "LEVEL", "what needs approval: none, destructive, commits or all", []string{"approval"}
		case "step":
			k.name, usage, k.keys = "bool", "work on one task at a time, and ask before each starts", []string{"step"}
		case "strict":
			k.name, usage, k.keys = "bool", "treat notices as blockers", []string{"precheck.strict"}
		case "skip":
			k.name, usage, k.keys = "NAMES", "skip these checks, by the names that nexus doctor prints", []string{"precheck.skip"}
		case "status-file":
			k.name, usage, k.keys = "PATH", "keep a status file up to date at this path", []string{"status_file"}
		case "target":
			k.name, usage, k.keys = "BRANCH", "branch that the result is for", []string{"target"}
		case "land":
			k.name, usage, k.keys = "bool", "move the target branch to the result at the end", []string{"land"}
		}
		f := c.Flags().VarPF(k, name, short, usage)
		if k.name == "bool" {
			f.NoOptDefVal = "true"
		}
	}
}
