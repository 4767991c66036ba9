package stack

import (
	"path"
	"regexp"
	"strings"

	"github.com/nexus-ai-builder/nexus/internal/stack/read"
	"github.com/nexus-ai-builder/nexus/internal/stack/read/lint"
	"github.com/nexus-ai-builder/nexus/internal/stack/read/suite"
)

func maven() Stack {
	return Stack{
		Name: "maven", Markers: []string{"pom.xml"}, Runners: []Runner{{If: "file:mvnw", Args: []string{"./mvnw"}}, {Args: []string{"mvn"}}},
		covers:  func(outer project, rel, _ string) bool { return outer.module(rel) },
		Formats: jvmFormats(),
		Steps: []Step{
			{Gate: "build", Args: []string{"{run}", "-B", "-o", "-ntp", "test-compile"}, Format: "maven"},
			{Gate: "lint", If: "has:pom.xml:maven-checkstyle-plugin", Args: []string{"{run}", "-B", "-o", "-ntp", "checkstyle:check"}, Format: "maven"},
			{Gate: "lint", Beside: "pmd", If: "plugin:maven-pmd-plugin", Args: []string{"{run}", "-B", "-o", "-ntp", "pmd:check"}, Format: "maven"},
			{Gate: "lint", Beside: "spotbugs", If: "plugin:spotbugs-maven-plugin", Args: []string{"{run}", "-B", "-o", "-ntp", "test-compile", "spotbugs:check"}, Format: "maven"},
			{Gate: "format", If: "plugin:spotless-maven-plugin", Args: []string{"{run}", "-B", "-o", "-ntp", "spotless:check"}, Format: "maven"},
			{Gate: "test", Args: []string{"{run}", "-B", "-o", "-ntp", "-fae", "test"}, Format: "maven-test", Tests: true, Reports: []string{"target/surefire-reports/TEST-*.xml", "*/target/surefire-reports/TEST-*.xml", "*/*/target/surefire-reports/TEST-*.xml"}, Related: []Part{{By: ByClass, Args: []string{"{run}", "-B", "-o", "-ntp", "-fae", "test", "-Dsurefire.failIfNoSpecifiedTests=false", "-Dtest={classes}", "{modules}"}, Reports: true}}, Alone: []Lone{{Name: NameMethod, Args: []string{"{run}", "-B", "-o", "-ntp", "test", "-Dsurefire.failIfNoSpecifiedTests=false", "-Dsurefire.rerunFailingTestsCount=0", "-Dtest={test}"}, Reports: true}}, Cover: mavenCover()},
		},
	}
}

// someOfGradle runs some classes. A project without any of them would be a
// failure, and no option says that it is none.
func someOfGradle() []string {
	const line = `d=$(mktemp -d) || exit 1
trap 'rm -rf "$d"' EXIT
echo 'allprojects { tasks.withType(Test) { filter.failOnNoMatchingTests = false } }' >"$d/some.gradle"
"$@" -I "$d/some.gradle"`
	return []string{"sh", "-c", line, "sh", "{run}", "--offline", "--no-daemon", "--console=plain", "--info", "--no-build-cache", "cleanTest", "test", "--continue", "--tests={class}"}
}

func gradle() Stack {
	return Stack{
		Name: "gradle", Markers: []string{"build.gradle", "build.gradle.kts", "settings.gradle", "settings.gradle.kts"},
		Runners: []Runner{{If: "file:gradlew", Args: []string{"./gradlew"}}, {Args: []string{"gradle"}}},
		Yields:  []string{"pom.xml"},
		covers:  func(outer project, rel, _ string) bool { return outer.included(rel) },
		Steps: []Step{
			{Gate: "build", Args: []string{"{run}", "--offline", "--no-daemon", "--console=plain", "testClasses"}, Format: "maven"},
			{Gate: "format", If: "has:build.gradle:com.diffplug.spotless|has:build.gradle.kts:com.diffplug.spotless", Args: []string{"{run}", "--offline", "--no-daemon", "--console=plain", "spotlessCheck"}, Format: "maven"},
			{Gate: "test", Args: []string{"{run}", "--offline", "--no-daemon", "--console=plain", "--info", "--no-build-cache", "cleanTest", "test", "--continue"}, Format: "gradle-test", Tests: true, Reports: []string{"build/test-results/test/*.xml", "*/build/test-results/test/*.xml", "*/*/build/test-results/test/*.xml"}, Related: []Part{{By: ByClass, Args: someOfGradle(), Reports: true}}, Alone: []Lone{{Name: NameDotted, Args: []string{"{run}", "--offline", "--no-daemon", "--console=plain", "--info", "--no-build-cache", "cleanTest", "test", "--tests={test}"}, Reports: true}}, Cover: gradleCover()},
		},
	}
}

// modular shows reports of JaCoCo, each behind the directory of its module: what
// precedes $end in its path. In the reports are names of packages alone.
const modular = `
for f; do echo "<?nexus ${f%%/$end}?>"; show "$f"; echo; done`

func mavenCover() []Cover {
	const line = `"$@" -B -o -ntp test jacoco:report >&2 || exit
set -- $(find . -path '*/target/site/jacoco/jacoco.xml' -newer "$d")
[ $# -gt 0 ] || show
end=target/site/jacoco/jacoco.xml` + modular
	return []Cover{
		{If: "has:pom.xml:jacoco-maven-plugin", Name: "JaCoCo", Format: "jacoco", Args: measured(line, "{run}")},
		lacking("", "jacoco-maven-plugin", "add it to pom.xml, with its goal prepare-agent"),
	}
}

// gradleCover has a report written anew: Gradle leaves one as it is that is up
// to date, and so does what runs after the tests by itself.
func gradleCover() []Cover {
	const line = `"$@" --offline --no-daemon --console=plain --no-build-cache cleanJacocoTestReport test jacocoTestReport >&2 || exit
set -- $(find . -path '*/build/reports/jacoco/*.xml' -newer "$d")
[ $# -gt 0 ] || lack "XML" "jacocoTestReport { reports { xml.required = true } }"
end=build/reports/jacoco/*` + modular
	return []Cover{
		{If: "has:build.gradle:jacoco|has:build.gradle.kts:jacoco", Name: "JaCoCo", Format: "jacoco", Args: measured(line, "{run}")},
		lacking("", "jacoco", "add the plugin jacoco to the build"),
	}
}

// module reports whether Maven builds a directory with the project above it.
func (p project) module(rel string) bool {
	text := regexp.MustCompile(`(?s)<!--.*?-->|<profiles>.*?</profiles>`).ReplaceAllString(p.read("pom.xml"), "")
	for _, m := range regexp.MustCompile(`<module>\s*([^<\s]+)\s*</module>`).FindAllStringSubmatch(text, -1) {
		dir := path.Clean(strings.TrimSuffix(m[1], "/pom.xml"))
		if rel == dir {
			return true
		}
		if below, ok := strings.CutPrefix(rel, dir+"/"); ok {
			inner := p
			inner.dir = path.Join(p.dir, dir)
			if inner.module(below) {
				return true
			}
		}
	}
	return false
}

// included reports whether Gradle tests a directory with the project above it,
// which it does not where it only includes that as a build. Settings are a program: where they do more than to name projects, it does. A
// directory that they do not name can be built only with settings of its own.
func (p project) included(rel string) bool {
	settings := p.read("settings.gradle") + p.read("settings.gradle.kts")
	settings = regexp.MustCompile(`(?s)/\*.*?\*/|(?m)//.*$`).ReplaceAllString(settings, "")
	inner := p
	inner.dir = path.Join(p.dir, rel)
	if !inner.word("file:settings.gradle") && !inner.word("file:settings.gradle.kts") {
		return true
	}
	plain := !regexp.MustCompile(`\b(?:each|for|while|eachDir|fileTree|projectDir|walk)\b`).MatchString(settings)
	named := false
	for _, m := range regexp.MustCompile(`\binclude\b[\s(]*((?:["'][^"'\n]+["'][\s,]*)+)`).FindAllStringSubmatch(settings, -1) {
		for _, q := range regexp.MustCompile(`["']([^"'\n]+)["']`).FindAllStringSubmatch(m[1], -1) {
			dir := path.Clean(strings.ReplaceAll(strings.TrimPrefix(q[1], ":"), ":", "/"))
			named = named || dir == rel || strings.HasPrefix(dir, rel+"/")
		}
	}
	return named || !plain
}

// jvmFormats are what its tools print.
func jvmFormats() []read.Format {
	return []read.Format{
		{Name: "javac", About: "javac and kotlinc", Warns: true, Commands: []string{"javac", "kotlinc"}, Marks: `(?m)^\S+\.java:\d+: [^\s:][^:\n]{0,40}: ?\S|^[ew]: (?:file://)?\S+\.kts?:|^\S+\.kts?:\d+:\d+: (?:error|warning): `, Read: lint.Javac},
		{Name: "maven", About: "mvn compile, checkstyle, PMD, SpotBugs and Spotless, and Gradle's compilation", Warns: true, Commands: []string{"mvn compile", "mvn checkstyle:check", "mvn pmd:check", "mvn spotbugs:check", "mvn spotless:check", "mvnw compile", "gradle assemble", "gradlew assemble"}, Marks: `(?m)^\[ERROR\] \S+\.(?:java|kt):\[\d+,\d+\]|^\[ERROR\] +The project .*\) has \d+ errors?$|^\[ERROR\] Failed to execute goal \S+:(?:maven-pmd|spotbugs-maven|spotless-maven)-plugin:\S+:check |^\* What went wrong:$`, Well: `BUILD SUCCESS`, Read: lint.Maven},
		{Name: "checkstyle", About: "Checkstyle's text", Warns: true, Commands: []string{"checkstyle"}, Marks: `(?m)^Audit done\.`, Read: lint.CheckstyleText},
		{Name: "maven-test", About: "Surefire and Failsafe within Maven", Tests: true, Commands: []string{"mvn test", "mvn verify", "mvnw test", "mvnw verify"}, Marks: `Tests run: \d+, Failures: \d+, Errors: \d+|(?m)^\[INFO\] --- \S*surefire\S*:test `, Over: `^(?:\[INFO\] )?BUILD (?:SUCCESS|FAILURE)`, Read: suite.Maven},
		{Name: "gradle-test", About: "Gradle's test tasks", Tests: true, Commands: []string{"gradle test", "gradlew test", "gradle check", "gradlew check"}, Marks: `(?m)^\d+ tests? completed, |^> Task :\S*test|^:(?:[\w.-]+:)*test(?: [A-Z-]+)?$`, Over: `^BUILD (?:SUCCESSFUL|FAILED)`, Read: suite.Gradle},
	}
}
