package app

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/sys/config"
	"github.com/nexus-ai-builder/nexus/internal/work/agent"
)

// maxCustom is the most bytes that a file may have which tells agents something.
const maxCustom = 1 << 20

// Casting reads what a repository says to agents, and puts on top of it what the
// configuration says about roles.
func Casting(dir string, c config.Config) (map[nexus.Role]agent.Role, string, error) {
	roles, rules, err := customs(dir)
	if err != nil {
		return nil, "", err
	}
	for name, r := range roles {
		r.Effort = cmp.Or(c.Roles[name].Effort, r.Effort)
		roles[name] = r
	}
	return roles, rules, nil
}

// customs reads what a repository says to agents: its roles, and the standing
// rules of its AGENTS.md. Both go to a provider, and the repository may be
// anybody's, so no link is followed out of it.
func customs(dir string) (roles map[nexus.Role]agent.Role, rules string, err error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, "", err
	}
	defer func() { err = errors.Join(err, root.Close()) }()
	theirs, err := fs.Sub(root.FS(), ".nexus/roles")
	if err != nil {
		return nil, "", err
	}
	if roles, err = agent.Roles(theirs); err != nil {
		return nil, "", err
	}
	rules, err = read(root, "AGENTS.md")
	if errors.Is(err, fs.ErrNotExist) {
		return roles, "", nil
	}
	if err != nil {
		return nil, "", err
	}
	return roles, rules, nil
}

// read returns a file of the repository that tells agents something.
func read(root *os.Root, name string) (string, error) {
	info, err := root.Stat(name)
	if err == nil && (!info.Mode().IsRegular() || info.Size() > maxCustom) {
		err = fmt.Errorf("it is not a file of at most %d bytes", maxCustom)
	}
	var data []byte
	if err == nil {
		data, err = root.ReadFile(name)
	}
	if err != nil {
		return "", &nexus.Error{
			Code: nexus.CodeInvalidConfig, Message: "read " + name, Cause: err,
			Hint: "Make it a file of the repository; a link may not lead out of it.",
		}
	}
	return string(data), nil
}
