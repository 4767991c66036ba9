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

	"github.com/nexus-ai-builder/nexus/internal/sys/disk"
)

// maxLogin is the largest file of a login that is copied.
const maxLogin = 1 << 20

// Login is a user's login, and the copy of it in a home of the program. What was
// copied is remembered beside the home, where nothing that runs in it comes to.
type Login struct {
	Program Program
	Home    string // of the program
	User    string // home of the user
}

// RenewedFile is what became of a login that the program renewed in its home.
type RenewedFile struct {
	File string
	Kept string // why the user's own stays as it is; empty: it was replaced
}

// Copy copies the files of the login that are the user's newest: those that are
// not there yet, and those that the user changed since. It reports whether it
// copied any, and returns the secrets of all.
func (l Login) Copy() (copied bool, secrets []string, err error) {
	root, err := os.OpenRoot(l.Home)
	if err != nil {
		return false, nil, disk.WrapError("open the home of "+l.Program.Name, err)
	}
	defer root.Close() //nolint:errcheck // what was written is synced
	was := l.copiedSums()
	for _, name := range l.Program.Login {
		theirs, _, err := l.readUserFile(name)
		if err != nil {
			continue // there is none that can be used
		}
		own, err := readRegularFile(root, name)
		secrets = append(secrets, slices.Concat(values(theirs), values(own))...)
		if err == nil && was[name] == sum(theirs) { // newer than that, or the same
			continue
		}
		if err := writeInHome(root, name, theirs); err != nil {
			return copied, secrets, disk.WrapError("copy the login of "+l.Program.Name, err)
		}
		was[name], copied = sum(theirs), true
	}
	if !copied {
		return false, secrets, nil
	}
	return true, secrets, l.saveCopiedSums(was)
}

// Renew writes what the program renewed back to the user, so that a maker which
// takes a refresh token once does not log the person out: the same file, if it is
// still what was copied, and only where nothing but tokens and times changed. See
// [checkRenewed].
func (l Login) Renew() (all []RenewedFile, secrets []string, err error) {
	root, err := os.OpenRoot(l.Home)
	if err != nil {
		return nil, nil, nil // it was never run
	}
	defer root.Close() //nolint:errcheck // only read
	was := l.copiedSums()
	for _, name := range l.Program.Login {
		own, err := readRegularFile(root, name)
		if was[name] == "" || was[name] == "-" || err == nil && sum(own) == was[name] || errors.Is(err, fs.ErrNotExist) {
			continue
		}
		theirs, _, _ := l.readUserFile(name)
		if err == nil && slices.Equal(values(own), values(theirs)) {
			continue // it wrote something else there
		}
		r := RenewedFile{File: name}
		if err == nil {
			err = l.replace(name, was[name], own)
		}
		if err != nil {
			r.Kept, was[name] = err.Error(), "-" // is said once, and copied anew
		} else {
			was[name], secrets = sum(own), append(secrets, values(own)...)
		}
		all = append(all, r)
	}
	if all == nil {
		return nil, nil, nil
	}
	return all, secrets, l.saveCopiedSums(was)
}

// errChanged says that the user's own file is another one now.
var errChanged = errors.New("yours was changed meanwhile, and is newer")

// replace puts what the program renewed in the place of the user's file.
func (l Login) replace(name, was string, own []byte) error {
	theirs, at, err := l.readUserFile(name)
	if err != nil {
		return err
	}
	if sum(theirs) != was {
		return errChanged
	}
	if err := checkRenewed(theirs, own); err != nil {
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
	if theirs, _, err := l.readUserFile(name); err != nil || sum(theirs) != was {
		return errChanged
	}
	return disk.ReplaceWithMode(at, own, now.Mode().Perm())
}

// readUserFile reads a file of the user's login, and says where it lies.
func (l Login) readUserFile(name string) (data []byte, at string, err error) {
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

// readRegularFile reads a file of a home, in which everything may have been replaced.
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

// writeInHome writes a file into a home, and never out of it.
func writeInHome(root *os.Root, name string, data []byte) error {
	if err := root.MkdirAll(path.Dir(name), 0o700); err != nil {
		return err
	}
	if info, err := root.Lstat(name); err == nil && info.IsDir() {
		return fmt.Errorf("%s is a directory there", name)
	}
	temp := name + ".new"
	_ = root.Remove(temp) // of a process that died
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

// record is where it is remembered what was copied.
func (l Login) record() string { return l.Home + ".login" }

// copiedSums returns the sums of the files that were copied.
func (l Login) copiedSums() map[string]string {
	was := map[string]string{}
	if data, err := os.ReadFile(l.record()); err == nil {
		_ = json.Unmarshal(data, &was) // else all is copied anew
	}
	return was
}

func (l Login) saveCopiedSums(was map[string]string) error {
	return disk.Replace(l.record(), message(was))
}

func sum(data []byte) string {
	h := sha256.Sum256(data)
	return hex.EncodeToString(h[:])
}
