package agentcli

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"syscall"

	"github.com/nexus-ai-builder/nexus/internal/sys/filewrite"
)

// maxLogin limits the size of a login file that is copied.
const maxLogin = 1 << 20

// AgentProgramLogin is a user's login, and its copy in a home of the program. The record of the copied files
// is beside the home, where no process in the sandbox can write.
type AgentProgramLogin struct {
	Program CLIAgentProgram
	Home    string // home of the program
	User    string // home of the user
}

// RenewedLoginFile is the result of writing a renewed login file back to the user.
type RenewedLoginFile struct {
	File string
	Kept string // why the user's own file was not replaced; empty: it was
}

// CopyFiles copies the login files that are missing in the home or that the user changed since the last
// copy. It reports whether it copied any, and returns the secrets of all files.
func (l AgentProgramLogin) CopyFiles() (copied bool, secrets []string, err error) {
	root, err := os.OpenRoot(l.Home)
	if err != nil {
		return false, nil, filewrite.WrapError("open the home of "+l.Program.Name, err)
	}
	defer root.Close() //nolint:errcheck // what was written is synced
	was := l.readCopiedSums()
	for _, name := range l.Program.Login {
		theirs, _, err := l.readUserFile(name)
		if err != nil {
			continue // it does not exist or cannot be used
		}
		own, err := readRegularFile(root, name)
		secrets = append(secrets, slices.Concat(possibleSecrets(theirs), possibleSecrets(own))...)
		if err == nil && was[name] == sha256Hex(theirs) { // the home's file is the same or newer
			continue
		}
		if err := writeInHome(root, name, theirs); err != nil {
			return copied, secrets, filewrite.WrapError("copy the login of "+l.Program.Name, err)
		}
		was[name], copied = sha256Hex(theirs), true
	}
	if !copied {
		return false, secrets, nil
	}
	return true, secrets, l.saveCopiedSums(was)
}

// WriteBack writes renewed login files back to the user. Otherwise, a vendor that accepts a refresh
// token only once would log the user out. A file is replaced only if the user's file is still the
// copied one and only tokens and times changed, see [checkRenewedLogin].
func (l AgentProgramLogin) WriteBack() (all []RenewedLoginFile, secrets []string, err error) {
	root, err := os.OpenRoot(l.Home)
	if err != nil {
		return nil, nil, nil // the program was never run
	}
	defer root.Close() //nolint:errcheck // only read
	was := l.readCopiedSums()
	for _, name := range l.Program.Login {
		own, err := readRegularFile(root, name)
		if was[name] == "" || was[name] == "-" || err == nil && sha256Hex(own) == was[name] || errors.Is(err, fs.ErrNotExist) {
			continue
		}
		theirs, _, _ := l.readUserFile(name)
		if err == nil && slices.Equal(possibleSecrets(own), possibleSecrets(theirs)) {
			continue // the program wrote something else there
		}
		r := RenewedLoginFile{File: name}
		if err == nil {
			err = l.replaceUserFile(name, was[name], own)
		}
		if err != nil {
			r.Kept, was[name] = err.Error(), "-" // reported once, then copied again
		} else {
			was[name], secrets = sha256Hex(own), append(secrets, possibleSecrets(own)...)
		}
		all = append(all, r)
	}
	if all == nil {
		return nil, nil, nil
	}
	return all, secrets, l.saveCopiedSums(was)
}

// errChanged is returned if the user's own file was changed since it was copied.
var errChanged = errors.New("yours was changed meanwhile, and is newer")

// replaceUserFile replaces the user's file with the renewed one.
func (l AgentProgramLogin) replaceUserFile(name, was string, own []byte) error {
	theirs, at, err := l.readUserFile(name)
	if err != nil {
		return err
	}
	if sha256Hex(theirs) != was {
		return errChanged
	}
	if err := checkRenewedLogin(theirs, own); err != nil {
		return err
	}
	f, err := os.Open(at)
	if err != nil {
		return err
	}
	defer f.Close() //nolint:errcheck // it is locked, not written
	if err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		return errors.New("another process writes it")
	}
	locked, err := f.Stat()
	if err != nil {
		return err
	}
	now, err := os.Lstat(at)
	if err != nil || !os.SameFile(locked, now) {
		return errChanged // another session was faster
	}
	if theirs, _, err := l.readUserFile(name); err != nil || sha256Hex(theirs) != was {
		return errChanged
	}
	return filewrite.ReplaceFileWithMode(at, own, now.Mode().Perm())
}

// readUserFile reads a file of the user's login, and returns its location.
func (l AgentProgramLogin) readUserFile(name string) (data []byte, at string, err error) {
	if at, err = filepath.EvalSymlinks(filepath.Join(l.User, name)); err != nil {
		return nil, "", err
	}
	info, err := os.Lstat(at)
	if err != nil {
		return nil, "", err
	}
	if !info.Mode().IsRegular() || info.Size() > maxLogin {
		return nil, "", fmt.Errorf("%s is not a file, or is too large", name)
	}
	data, err = os.ReadFile(at)
	return data, at, err
}

// readRegularFile reads a file of a home, in which any file may have been replaced by a link or a
// pipe.
func readRegularFile(root *os.Root, name string) ([]byte, error) {
	before, err := root.Lstat(name)
	if err != nil {
		return nil, err
	}
	if !before.Mode().IsRegular() || before.Size() > maxLogin {
		return nil, fmt.Errorf("%s is not a file there, or is too large", name)
	}
	f, err := root.OpenFile(name, os.O_RDONLY|syscall.O_NONBLOCK|syscall.O_NOFOLLOW, 0)
	if err != nil {
		return nil, err
	}
	defer f.Close() //nolint:errcheck // only read
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	if s, ok := info.Sys().(*syscall.Stat_t); !info.Mode().IsRegular() || ok && s.Nlink > 1 {
		return nil, fmt.Errorf("%s is a link there", name)
	}
	data, err := io.ReadAll(io.LimitReader(f, maxLogin+1))
	if err == nil && len(data) > maxLogin {
		err = fmt.Errorf("%s is too large", name)
	}
	return data, err
}

// writeInHome writes a file into a home, and never out of it through a link.
func writeInHome(root *os.Root, name string, data []byte) error {
	if err := root.MkdirAll(path.Dir(name), 0o700); err != nil {
		return err
	}
	if info, err := root.Lstat(name); err == nil && info.IsDir() {
		return fmt.Errorf("%s is a directory there", name)
	}
	temp := name + ".new"
	_ = root.Remove(temp) // leftover of a process that died
	f, err := root.OpenFile(temp, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	if err = errors.Join(err, f.Close()); err != nil {
		return err
	}
	return root.Rename(temp, name)
}

// copiedFilesRecordPath returns the path of the record of copied files.
func (l AgentProgramLogin) copiedFilesRecordPath() string { return l.Home + ".login" }

// readCopiedSums returns the checksums of the copied files.
func (l AgentProgramLogin) readCopiedSums() map[string]string {
	was := map[string]string{}
	if data, err := os.ReadFile(l.copiedFilesRecordPath()); err == nil {
		_ = json.Unmarshal(data, &was) // if unreadable, all are copied again
	}
	return was
}

func (l AgentProgramLogin) saveCopiedSums(was map[string]string) error {
	return filewrite.ReplaceFile(l.copiedFilesRecordPath(), encodeJSON(was))
}

func sha256Hex(data []byte) string {
	h := sha256.Sum256(data)
	return hex.EncodeToString(h[:])
}
