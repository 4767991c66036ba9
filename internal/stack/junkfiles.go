package stack

import (
	"path"
	"slices"
	"strings"
)

// EnclosingCacheDir returns the directory of a file that is, by its name, a cache or a directory of
// installed packages; "" for none. It ends in a slash.
func EnclosingCacheDir(file string) string {
	dirs := strings.Split(path.Dir(file), "/")
	for i, dir := range dirs {
		next := ""
		if i+1 < len(dirs) {
			next = dirs[i+1]
		} else {
			next = path.Base(file)
		}
		if slices.Contains(cacheNames(), dir) || strings.HasSuffix(dir, ".egg-info") ||
			dir == "target" && slices.Contains(buildTargetFileNames(), next) ||
			dir == "_build" && slices.Contains([]string{"dev", "test", "prod"}, next) {
			return strings.Join(dirs[:i+1], "/") + "/"
		}
	}
	return ""
}

// IsJunkFileName reports whether a name in small letters is that of a file which an editor, a system or
// a cache writes.
func IsJunkFileName(base string) bool {
	return slices.Contains(junkNames(), base) || slices.ContainsFunc(junkEndings(), func(end string) bool {
		return len(base) > len(end) && strings.HasSuffix(base, end)
	})
}

// buildTargetFileNames returns the names of the files that cargo and maven write to a directory called
// target.
func buildTargetFileNames() []string {
	return []string{"debug", "release", "classes", "test-classes", "surefire-reports", "CACHEDIR.TAG", ".rustc_info.json"}
}

func cacheNames() []string {
	return []string{
		"__pycache__", "node_modules", "bower_components", ".pytest_cache", ".mypy_cache", ".ruff_cache",
		".hypothesis", ".tox", ".nox", ".venv", ".ipynb_checkpoints", ".eggs",
		".gradle", ".next", ".nuxt", ".svelte-kit", ".parcel-cache", ".turbo", ".nyc_output", ".angular",
		".terraform", ".dart_tool", ".stack-work", ".bundle", ".cache", ".ccls-cache",
		".sass-cache", "__MACOSX", ".Trash-1000", ".fseventsd", ".Spotlight-V100", "CMakeFiles", ".zig-cache", "zig-cache", ".build",
	}
}

func junkNames() []string {
	return []string{
		".ds_store", "thumbs.db", "desktop.ini", "ehthumbs.db", ".coverage",
		".eslintcache", ".stylelintcache", "npm-debug.log", "yarn-error.log", "yarn-debug.log",
		".phpunit.result.cache",
		".node_repl_history", ".python_history", ".bash_history", "cmakecache.txt", ".rspec_status",
	}
}

func junkEndings() []string {
	return []string{".pyc", ".pyo", ".swp", ".swo", "~", ".orig", ".rej", ".bak", ".tmp", ".tsbuildinfo", ".stackdump", ".hprof"}
}

// IsDataFile reports whether a file is, by its name, data that programs write and read, and neither
// source nor configuration nor text.
func IsDataFile(file string) bool {
	return slices.Contains(dataExtensions(), strings.ToLower(path.Ext(file)))
}

func dataExtensions() []string {
	return []string{
		".csv", ".tsv", ".dat", ".out", ".bin", ".db", ".sqlite", ".sqlite3", ".rdb", ".parquet", ".pickle", ".pkl", ".npy", ".npz", ".h5",
		".zip", ".tar", ".gz", ".tgz", ".bz2", ".xz", ".7z", ".jar", ".whl", ".deb", ".rpm", ".dmg", ".iso", ".img",
		".png", ".jpg", ".jpeg", ".gif", ".bmp", ".webp", ".ico", ".pdf", ".mp3", ".mp4", ".wav", ".mov", ".webm",
		".prof", ".pprof", ".trace", ".cov", ".lcov", ".gcda", ".gcno", ".dump", ".pcap", ".stats", ".har",
	}
}
