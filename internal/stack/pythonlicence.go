package stack

import (
	"path"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/nexus-ai-builder/nexus/internal/stack/licencename"
)

// pythonLicence reads the metadata of packages in virtual environments.
func pythonLicence(p PackageSearchPaths, k ListedPackage) string {
	for _, dir := range distributionMetadataFiles(p, k) {
		for _, found := range []string{licenceFromPythonMetadata(p.readText(dir, "METADATA")), p.licenceInText(dir), p.licenceInText(path.Join(dir, "licenses"))} {
			if found != "" {
				return found
			}
		}
	}
	return ""
}

// distributionMetadataFiles returns the metadata files of a distribution in virtual environments.
func distributionMetadataFiles(p PackageSearchPaths, k ListedPackage) []string {
	var patterns, dirs []string
	for _, t := range p.Trees {
		for _, venv := range []string{".venv", "venv", "env"} {
			for _, lib := range []string{"lib/python*", "Lib"} {
				patterns = append(patterns, path.Join(t, venv, lib, "site-packages", "*.dist-info"))
			}
		}
	}
	if venv := p.lookupEnv("VIRTUAL_ENV"); filepath.IsAbs(venv) {
		patterns = append(patterns, path.Join(venv, "lib", "python*", "site-packages", "*.dist-info"))
	}
	for _, dir := range p.matchingPaths(patterns...) {
		name, version, _ := strings.Cut(strings.TrimSuffix(path.Base(dir), ".dist-info"), "-")
		if normalizeDistribution(name) == normalizeDistribution(k.Name) && (k.Version == "" || version == k.Version) {
			dirs = append(dirs, dir)
		}
	}
	return dirs
}

// normalizeDistribution normalizes the name of a distribution as an index does.
func normalizeDistribution(name string) string {
	return strings.ToLower(regexp.MustCompile(`[-_.]+`).ReplaceAllString(name, "-"))
}

// licenceFromPythonMetadata reads the licence from the core metadata of a Python package: the expression
// if there is one, else the classifiers, else the free text.
func licenceFromPythonMetadata(text string) string {
	var free string
	var classifiers []string
	last := ""
	for line := range strings.Lines(text) {
		line = strings.TrimRight(line, "\r\n")
		if line == "" {
			break // the description follows
		}
		if strings.HasPrefix(line, " ") || strings.HasPrefix(line, "\t") {
			if last == "license" {
				free += "\n" + strings.TrimPrefix(strings.TrimSpace(line), "|")
			}
			continue
		}
		key, value, _ := strings.Cut(line, ":")
		value = strings.TrimSpace(value)
		switch last = strings.ToLower(key); last {
		case "license-expression":
			if l := licencename.ExpressionFor(value); l != "" {
				return l
			}
		case "license":
			free = value
		case "classifier":
			if l, ok := strings.CutPrefix(value, "License :: "); ok {
				classifiers = append(classifiers, strings.TrimPrefix(l, "OSI Approved :: "))
			}
		}
	}
	if len(classifiers) > 0 {
		known := true
		for _, c := range classifiers {
			known = known && licencename.KnownName(c) != ""
		}
		if known {
			return licencename.JoinExpression(classifiers, " AND ") // nothing says that one of them is enough
		}
	}
	if l := licencename.ExpressionFor(free); l != "" {
		return l
	}
	return licencename.JoinExpression(classifiers, " AND ")
}
