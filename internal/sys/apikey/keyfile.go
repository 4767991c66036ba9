package apikey

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/pelletier/go-toml/v2"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
)

// maxFile limits the size of a key file, in bytes; real ones are smaller.
const maxFile = 256 << 10

// readKeyFile returns the keys of a file by provider, and none if there is no file. All checks are
// made on the open file, so that nobody can exchange it in between.
func readKeyFile(path string) (map[string]string, error) {
	if path == "" {
		return nil, nil
	}
	f, err := openFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, unsafeFileError(path, "it cannot be opened: "+systemReason(err), "Make it a plain file that you can read, or remove it.")
	}
	defer func() { _ = f.Close() }() // only read
	if err := checkKeyFileDir(filepath.Dir(path)); err != nil {
		return nil, err
	}
	info, err := f.Stat()
	if err != nil {
		return nil, unsafeFileError(path, systemReason(err), "Remove it and set the keys again: nexus config key set PROVIDER.")
	}
	switch {
	case !info.Mode().IsRegular():
		return nil, unsafeFileError(path, "it is not a plain file", "Remove it and set the keys again: nexus config key set PROVIDER.")
	case !isOwnedByUser(info):
		return nil, unsafeFileError(path, "it belongs to another user", "Remove it and set the keys again: nexus config key set PROVIDER.")
	case info.Mode().Perm()&0o077 != 0:
		return nil, unsafeFileError(path, fmt.Sprintf("others may read or change it: its mode is %04o", info.Mode().Perm()), "Run chmod 600 "+path+"; if others had access, replace the keys at the provider.")
	case info.Size() > maxFile:
		return nil, unsafeFileError(path, "it is too large", "Remove it and set the keys again: nexus config key set PROVIDER.")
	}
	data, err := io.ReadAll(io.LimitReader(f, maxFile))
	if err != nil {
		return nil, unsafeFileError(path, systemReason(err), "Check the disk.")
	}
	return parseKeyFile(path, data)
}

// parseKeyFile reads lines such as: anthropic = "sk-ant-...". Its errors never contain text of the file.
func parseKeyFile(path string, data []byte) (map[string]string, error) {
	var kept map[string]string
	if err := toml.Unmarshal(data, &kept); err != nil {
		where := ""
		if e, ok := errors.AsType[*toml.DecodeError](err); ok {
			line, _ := e.Position()
			where = fmt.Sprintf(", line %d", line)
		}
		return nil, invalidFileError(path + where)
	}
	for provider, value := range kept {
		kept[provider] = strings.TrimSpace(value)
		if checkProviderKey(provider, kept[provider]) != nil {
			return nil, invalidFileError(path)
		}
	}
	return kept, nil
}

func invalidFileError(where string) error {
	return &nexus.Error{
		Code: nexus.CodeInvalidConfig, Message: "read the keys in " + where + ": it is not a list of keys",
		Hint: `A line holds a provider and its key: anthropic = "KEY". Write it with nexus config key set PROVIDER.`,
	}
}

func unsafeFileError(path, why, hint string) error {
	return &nexus.Error{Code: nexus.CodeKeyUnsafe, Message: "the keys in " + path + " are not used: " + why, Hint: hint}
}

// systemReason returns the system's reason of an error, without the path, which the message already has.
func systemReason(err error) string {
	if e, ok := errors.AsType[*fs.PathError](err); ok {
		err = e.Err
	}
	return err.Error()
}

// checkKeyFileDir returns an error if other users can list the directory or exchange files in it.
func checkKeyFileDir(dir string) error {
	info, err := os.Lstat(dir)
	switch {
	case err != nil:
		return unsafeFileError(dir, systemReason(err), "Make it private: chmod 700 "+dir+".")
	case info.Mode()&fs.ModeSymlink != 0:
		return unsafeFileError(dir, "it is a symbolic link", "Put a directory in its place, or set XDG_CONFIG_HOME to where it leads.")
	case !info.IsDir():
		return unsafeFileError(dir, "it is not a directory", "Put a directory in its place.")
	case !isOwnedByUser(info):
		return unsafeFileError(dir, "it belongs to another user", "Set XDG_CONFIG_HOME to a directory of your own.")
	case info.Mode().Perm()&0o027 != 0:
		return unsafeFileError(dir, fmt.Sprintf("others may look into it: its mode is %04o", info.Mode().Perm()), "Run chmod 700 "+dir+".")
	}
	return nil
}

// changeKeyFile reads the file, calls change with its keys, and replaces the file atomically if
// change returns true. An unreadable file is never overwritten.
func changeKeyFile(path string, change func(map[string]string) bool) error {
	if path == "" {
		return &nexus.Error{Code: nexus.CodeInvalidConfig, Message: "there is no place for a key file", Hint: "Set HOME or XDG_CONFIG_HOME."}
	}
	dir := filepath.Dir(path)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return storageError(path, err)
	}
	if info, err := os.Lstat(dir); err == nil && info.IsDir() && isOwnedByUser(info) && info.Mode().Perm()&0o022 == 0 {
		if err := os.Chmod(dir, 0o700); err != nil { // mkdir leaves it so that others can list it
			return storageError(path, err)
		}
	}
	if err := checkKeyFileDir(dir); err != nil {
		return err
	}
	unlock, err := lockKeyFile(path + ".lock")
	if err != nil {
		return storageError(path, err)
	}
	defer unlock()
	kept, err := readKeyFile(path)
	if err != nil {
		return err
	}
	if kept == nil {
		kept = map[string]string{}
	}
	if !change(kept) {
		return nil
	}
	data, err := toml.Marshal(kept)
	if err != nil {
		return storageError(path, err)
	}
	return storageError(path, replaceFile(path, data))
}

// replaceFile writes a file of mode 0600 and renames it into place when it is complete.
func replaceFile(path string, data []byte) error {
	f, err := os.CreateTemp(filepath.Dir(path), ".keys-*") // has mode 0600
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	if err == nil {
		err = f.Sync()
	}
	if err = errors.Join(err, f.Close()); err == nil {
		err = os.Rename(f.Name(), path)
	}
	if err != nil {
		return errors.Join(err, os.Remove(f.Name()))
	}
	d, err := os.Open(filepath.Dir(path))
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}

func storageError(path string, err error) error {
	if err == nil {
		return nil
	}
	return &nexus.Error{
		Code: nexus.CodeStorage, Message: "write the keys to " + path, Cause: err,
		Hint: "Check the disk and who may write there.",
	}
}
