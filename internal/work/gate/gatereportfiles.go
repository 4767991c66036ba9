package gate

import (
	"bytes"
	"io/fs"
	"maps"
	"os"
	"path"
	"slices"
	"time"
)

// gateReportFile is a report file that a command wrote.
type gateReportFile struct {
	at   time.Time
	data []byte
}

// mostReports limits the number of report files that are read.
const mostReports = 1000

// readReports returns the report files of a command below a directory of a tree. Links are not
// followed.
func readReports(tree, dir string, patterns []string, largest int64) map[string]gateReportFile {
	if len(patterns) == 0 {
		return nil
	}
	root, err := os.OpenRoot(tree)
	if err != nil {
		return nil
	}
	defer func() { _ = root.Close() }() // it was opened for reading only
	found := map[string]gateReportFile{}
	for _, pattern := range patterns {
		names, err := fs.Glob(root.FS(), path.Join(dir, pattern))
		if err != nil {
			continue
		}
		for _, name := range names[:min(len(names), mostReports)] {
			info, err := root.Lstat(name)
			if err != nil || !info.Mode().IsRegular() || info.Size() > largest {
				continue
			}
			if data, err := root.ReadFile(name); err == nil {
				found[name] = gateReportFile{info.ModTime(), data}
			}
		}
	}
	return found
}

// joinFreshReports joins the reports that were written since: an old one proves nothing.
func joinFreshReports(now, old map[string]gateReportFile) []byte {
	var b bytes.Buffer
	for _, name := range slices.Sorted(maps.Keys(now)) {
		if was, ok := old[name]; !ok || now[name].at.After(was.at) || !bytes.Equal(was.data, now[name].data) {
			b.Write(now[name].data)
			b.WriteByte('\n')
		}
	}
	return b.Bytes()
}
