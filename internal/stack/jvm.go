package stack

import (
	"encoding/xml"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/nexus-ai-builder/nexus/internal/stack/licencename"
	"github.com/nexus-ai-builder/nexus/internal/stack/outputparser"
	"github.com/nexus-ai-builder/nexus/internal/stack/outputparser/lint"
	"github.com/nexus-ai-builder/nexus/internal/stack/outputparser/testrunners"
)

func mavenStack() Stack {
	return Stack{
		Name: "maven", Markers: []string{"pom.xml"},
		Syntax:  jvmSyntax,
		Sources: jvmSources,
		Runners: []InstalledToolRunner{{If: "file:mvnw", Args: []string{"./mvnw"}}, {Args: []string{"mvn"}}},
		covers:  func(outer packageInspector, rel, _ string) bool { return outer.isMavenModule(rel) },
		Tests:   classTestSyntax([]string{"*Test.java", "*Tests.java", "*Spec.java", "*Test.kt", "*Tests.kt", "*Spec.kt", "*Test.scala", "*Tests.scala", "*Spec.scala"}, ".java", ".kt", ".kts", ".scala", ".groovy"),
		Configs: []CheckConfigPatterns{
			{Files: []string{"gradlew", "mvnw", "gradle-wrapper.properties", "maven-wrapper.properties"}, Runner: true},
			{Files: []string{"pom.xml", ".mvn/"}, Narrows: jvmNarrows, Loads: jvmLoads},
			{Files: []string{"checkstyle.xml", "detekt.yml"}},
		},
		Programs: splitWords("mvn javac"),
		Settings: []string{"/etc/maven", "/etc/java-17-openjdk", "/etc/java-21-openjdk"},
		Environment: ToolEnvironment{
			Keeps: []string{"JAVA_HOME"}, Offline: []string{"MAVEN_ARGS=--offline"},
			Proxied:   []string{"MAVEN_OPTS=" + javaProxy + " -Daether.connector.http.useSystemProperties=true", "SBT_OPTS=" + javaProxy},
			Unreached: []string{`in offline mode`, `Could not transfer artifact`},
		},
		Namings: func() []TestNameConverter {
			return []TestNameConverter{{NameMethod, testrunners.MemberTestArgument("#")}, {NameDotted, testrunners.MemberTestArgument(".")}}
		},
		Hosts:        []RegistryHosts{{"maven", splitWords("repo.maven.apache.org repo1.maven.org plugins.gradle.org plugins-artifacts.gradle.org services.gradle.org downloads.gradle.org")}},
		CommandRules: mavenCommandRules,
		Outlines:     jvmOutlines,
		Licences:     []LicenceFinder{{KindMaven, mavenLicence}},
		Listings:     []PackageListFormat{{[]string{"pom.xml"}, pomPackages}},
		Stores: []PackageDownloadCache{
			{Name: "maven", Tools: []string{"mvn", "mvnw"}, Home: ".m2/repository", Var: "MAVEN_OPTS", Value: "-Dmaven.repo.local=@"},
		},
		Formats: jvmFormats,
		Steps: func() []PackageCheckCommand {
			return []PackageCheckCommand{
				{Gate: "build", Args: []string{"{run}", "-B", "-o", "-ntp", "test-compile"}, Format: "maven"},
				{Gate: "lint", If: "has:pom.xml:maven-checkstyle-plugin", Args: []string{"{run}", "-B", "-o", "-ntp", "checkstyle:check"}, Format: "maven"},
				{Gate: "lint", Beside: "pmd", If: "plugin:maven-pmd-plugin", Args: []string{"{run}", "-B", "-o", "-ntp", "pmd:check"}, Format: "maven"},
				{Gate: "lint", Beside: "spotbugs", If: "plugin:spotbugs-maven-plugin", Args: []string{"{run}", "-B", "-o", "-ntp", "test-compile", "spotbugs:check"}, Format: "maven"},
				{Gate: "format", If: "plugin:spotless-maven-plugin", Args: []string{"{run}", "-B", "-o", "-ntp", "spotless:check"}, Format: "maven"},
				{Gate: "test", Args: []string{"{run}", "-B", "-o", "-ntp", "-fae", "test"}, Format: "maven-test", Tests: true, Reports: []string{"target/surefire-reports/TEST-*.xml", "*/target/surefire-reports/TEST-*.xml", "*/*/target/surefire-reports/TEST-*.xml"}, Related: []PartialTestCommand{{By: "jvm", Args: []string{"{run}", "-B", "-o", "-ntp", "-fae", "test", "-Dsurefire.failIfNoSpecifiedTests=false", "-Dtest={classes}", "{modules}"}, Reports: true}}, Alone: []SingleTestCommand{{Name: NameMethod, Args: []string{"{run}", "-B", "-o", "-ntp", "test", "-Dsurefire.failIfNoSpecifiedTests=false", "-Dsurefire.rerunFailingTestsCount=0", "-Dtest={test}"}, Reports: true}}, Cover: mavenCoverageCommands()},
			}
		},
	}
}

// gradlePartialCommand returns a command that runs some classes. A project that has none of them would
// fail, and no option changes that.
func gradlePartialCommand() []string {
	const line = `d=$(mktemp -d) || exit 1
trap 'rm -rf "$d"' EXIT
echo 'allprojects { tasks.withType(Test) { filter.failOnNoMatchingTests = false } }' >"$d/some.gradle"
"$@" -I "$d/some.gradle"`
	return []string{"sh", "-c", line, "sh", "{run}", "--offline", "--no-daemon", "--console=plain", "--info", "--no-build-cache", "cleanTest", "test", "--continue", "--tests={class}"}
}

func gradleStack() Stack {
	return Stack{
		Name: "gradle", Markers: []string{"build.gradle", "build.gradle.kts", "settings.gradle", "settings.gradle.kts"},
		Sources: jvmSources,
		Runners: []InstalledToolRunner{{If: "file:gradlew", Args: []string{"./gradlew"}}, {Args: []string{"gradle"}}},
		Yields:  []string{"pom.xml"},
		covers:  func(outer packageInspector, rel, _ string) bool { return outer.isGradleProject(rel) },
		Configs: []CheckConfigPatterns{
			{Files: []string{"gradle.properties", "*.gradle", "*.gradle.kts", "buildSrc/"}, Narrows: jvmNarrows, Loads: jvmLoads},
		},
		Programs: splitWords("gradle gradlew"),
		Settings: []string{"/etc/gradle"},
		// Java reads the home from the list of users, not from HOME.
		Environment:  ToolEnvironment{Private: []string{"GRADLE_USER_HOME={home}/.gradle"}, Proxied: []string{"GRADLE_OPTS=" + javaProxy}},
		Written:      []string{"gradle.lockfile"},
		CommandRules: gradleCommandRules,
		Listings:     []PackageListFormat{{[]string{"gradle.lockfile"}, gradlePackages}},
		Stores: []PackageDownloadCache{
			{Name: "gradle", Tools: []string{"gradle", "gradlew"}, Home: ".gradle/caches", Below: "caches", Var: "GRADLE_USER_HOME"},
			{Name: "gradle-wrapper", Tools: []string{"gradlew"}, Home: ".gradle/wrapper", Below: "wrapper", Var: "GRADLE_USER_HOME"},
		},
		Steps: func() []PackageCheckCommand {
			return []PackageCheckCommand{
				{Gate: "build", Args: []string{"{run}", "--offline", "--no-daemon", "--console=plain", "testClasses"}, Format: "maven"},
				{Gate: "format", If: "has:build.gradle:com.diffplug.spotless|has:build.gradle.kts:com.diffplug.spotless", Args: []string{"{run}", "--offline", "--no-daemon", "--console=plain", "spotlessCheck"}, Format: "maven"},
				{Gate: "test", Args: []string{"{run}", "--offline", "--no-daemon", "--console=plain", "--info", "--no-build-cache", "cleanTest", "test", "--continue"}, Format: "gradle-test", Tests: true, Reports: []string{"build/test-results/test/*.xml", "*/build/test-results/test/*.xml", "*/*/build/test-results/test/*.xml"}, Related: []PartialTestCommand{{By: "jvm", Args: gradlePartialCommand(), Reports: true}}, Alone: []SingleTestCommand{{Name: NameDotted, Args: []string{"{run}", "--offline", "--no-daemon", "--console=plain", "--info", "--no-build-cache", "cleanTest", "test", "--tests={test}"}, Reports: true}}, Cover: gradleCoverageCommands()},
			}
		},
	}
}

// javaProxy passes the proxy to a Java machine: it reads none of the usual variables.
const javaProxy = "-Dhttp.proxyHost={host} -Dhttps.proxyHost={host} -Dhttp.proxyPort={port} -Dhttps.proxyPort={port} -Dhttp.nonProxyHosts=localhost|127.*|[::1]"

// modular prints reports of JaCoCo, each after the directory of its module: the part of its
// path before $end. The reports contain only package names.
const modular = `
for f; do echo "<?nexus ${f%%/$end}?>"; show "$f"; echo; done`

func mavenCoverageCommands() []CoverageCommand {
	const line = `"$@" -B -o -ntp test jacoco:report >&2 || exit
set -- $(find . -path '*/target/site/jacoco/jacoco.xml' -newer "$d")
[ $# -gt 0 ] || show
end=target/site/jacoco/jacoco.xml` + modular
	return []CoverageCommand{
		{If: "has:pom.xml:jacoco-maven-plugin", Name: "JaCoCo", Format: "jacoco", Args: coverageShellCommand(line, "{run}")},
		coverageIfToolMissing("", "jacoco-maven-plugin", "add it to pom.xml, with its goal prepare-agent"),
	}
}

// gradleCoverageCommands returns commands that write the coverage report again: Gradle does not rewrite
// one that is up to date, and neither do tasks that run after the tests by themselves.
func gradleCoverageCommands() []CoverageCommand {
	const line = `"$@" --offline --no-daemon --console=plain --no-build-cache cleanJacocoTestReport test jacocoTestReport >&2 || exit
set -- $(find . -path '*/build/reports/jacoco/*.xml' -newer "$d")
[ $# -gt 0 ] || lack "XML" "jacocoTestReport { reports { xml.required = true } }"
end=build/reports/jacoco/*` + modular
	return []CoverageCommand{
		{If: "has:build.gradle:jacoco|has:build.gradle.kts:jacoco", Name: "JaCoCo", Format: "jacoco", Args: coverageShellCommand(line, "{run}")},
		coverageIfToolMissing("", "jacoco", "add the plugin jacoco to the build"),
	}
}

// isMavenModule reports whether Maven builds a directory with the project above it.
func (p packageInspector) isMavenModule(rel string) bool {
	text := regexp.MustCompile(`(?s)<!--.*?-->|<profiles>.*?</profiles>`).ReplaceAllString(p.readText("pom.xml"), "")
	for _, m := range regexp.MustCompile(`<module>\s*([^<\s]+)\s*</module>`).FindAllStringSubmatch(text, -1) {
		dir := path.Clean(strings.TrimSuffix(m[1], "/pom.xml"))
		if rel == dir {
			return true
		}
		if below, ok := strings.CutPrefix(rel, dir+"/"); ok {
			inner := p
			inner.dir = path.Join(p.dir, dir)
			if inner.isMavenModule(below) {
				return true
			}
		}
	}
	return false
}

// isGradleProject reports whether Gradle tests a directory with the project above it, which it does
// not if it only includes the directory as a build. Settings are a program: if they do more
// than name projects, the answer is true. A directory that they do not name can only be built
// with settings of its own.
func (p packageInspector) isGradleProject(rel string) bool {
	settings := p.readText("settings.gradle") + p.readText("settings.gradle.kts")
	settings = regexp.MustCompile(`(?s)/\*.*?\*/|(?m)//.*$`).ReplaceAllString(settings, "")
	inner := p
	inner.dir = path.Join(p.dir, rel)
	if !inner.conditionWordHolds("file:settings.gradle") && !inner.conditionWordHolds("file:settings.gradle.kts") {
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

// jvmFormats returns the output formats of its tools.
func jvmFormats() []outputparser.OutputFormat {
	return []outputparser.OutputFormat{
		{Name: "javac", About: "javac and kotlinc", Warns: true, Commands: []string{"javac", "kotlinc"}, Marks: `(?m)^\S+\.java:\d+: [^\s:][^:\n]{0,40}: ?\S|^[ew]: (?:file://)?\S+\.kts?:|^\S+\.kts?:\d+:\d+: (?:error|warning): `, Read: lint.ReadJavac},
		{Name: "maven", About: "mvn compile, checkstyle, PMD, SpotBugs and Spotless, and Gradle's compilation", Warns: true, Commands: []string{"mvn compile", "mvn checkstyle:check", "mvn pmd:check", "mvn spotbugs:check", "mvn spotless:check", "mvnw compile", "gradle assemble", "gradlew assemble"}, Marks: `(?m)^\[ERROR\] \S+\.(?:java|kt):\[\d+,\d+\]|^\[ERROR\] +The project .*\) has \d+ errors?$|^\[ERROR\] Failed to execute goal \S+:(?:maven-pmd|spotbugs-maven|spotless-maven)-plugin:\S+:check |^\* What went wrong:$`, Well: `BUILD SUCCESS`, Read: lint.ReadMaven},
		{Name: "checkstyle", About: "Checkstyle's text", Warns: true, Commands: []string{"checkstyle"}, Marks: `(?m)^Audit done\.`, Read: lint.ReadCheckstyleText},
		{Name: "maven-test", About: "Surefire and Failsafe within Maven", Tests: true, Commands: []string{"mvn test", "mvn verify", "mvnw test", "mvnw verify"}, Marks: `Tests run: \d+, Failures: \d+, Errors: \d+|(?m)^\[INFO\] --- \S*surefire\S*:test `, Over: `^(?:\[INFO\] )?BUILD (?:SUCCESS|FAILURE)`, Read: testrunners.ReadMaven},
		{Name: "gradle-test", About: "Gradle's test tasks", Tests: true, Commands: []string{"gradle test", "gradlew test", "gradle check", "gradlew check"}, Marks: `(?m)^\d+ tests? completed, |^> Task :\S*test|^:(?:[\w.-]+:)*test(?: [A-Z-]+)?$`, Over: `^BUILD (?:SUCCESSFUL|FAILED)`, Read: testrunners.ReadGradle},
	}
}

// gradlePackages reads rows such as org.slf4j:slf4j-api:2.0.9=runtimeClasspath.
func gradlePackages(text string) []ListedPackage {
	return packagesByLinePattern(KindMaven, text, `^([\w.-]+:[\w.-]+):([\w.+-]+)=`)
}

// pomPackages reads the dependencies of a Maven project, with the properties in the same file.
func pomPackages(text string) []ListedPackage {
	var all []ListedPackage
	var at ListedPackage
	properties := map[string]string{}
	walkXMLElements(text, func(path []string, e xml.StartElement, value func() string) {
		depth := len(path)
		managed := slices.Contains(path, "dependencyManagement") || slices.Contains(path, "plugin") || slices.Contains(path, "exclusion")
		switch {
		case depth > 1 && path[depth-1] == "properties":
			properties[e.Name.Local] = value()
		case managed:
		case e.Name.Local == "dependency" && depth > 0 && path[depth-1] == "dependencies":
			all = append(all, at)
			at = ListedPackage{Kind: KindMaven}
		case depth > 0 && path[depth-1] == "dependency":
			switch e.Name.Local {
			case "groupId":
				at.Name = value() + at.Name
			case "artifactId":
				at.Name += ":" + value()
			case "version":
				at.Version = value()
			}
		}
	})
	all = append(all, at)
	property := regexp.MustCompile(`\$\{([^}]*)\}`)
	for i := range all {
		all[i].Version = property.ReplaceAllStringFunc(all[i].Version, func(p string) string { return properties[p[2:len(p)-1]] })
	}
	return sortedPackages(slices.DeleteFunc(all, func(p ListedPackage) bool { return p.Kind == "" || !strings.Contains(strings.Trim(p.Name, ":"), ":") }))
}

// classTestSyntax describes tests in languages whose frameworks mark methods of classes: those of
// the JVM and of .NET.
func classTestSyntax(names []string, ends ...string) LanguageTestSyntax {
	return LanguageTestSyntax{
		Ends: ends, Names: names,
		Weak:     `assertNotNull|Assert\.Pass|IsNotNull`,
		Swallows: `-Dmaven\.test\.(?:skip|failure\.ignore)|ignoreFailures\s*=\s*true`,
		Quiets:   `@SuppressWarnings|@SuppressFBWarnings|\bNOPMD\b|spotless:off|#pragma warning disable`,
		Declares: `(?:@(?:Test|ParameterizedTest|RepeatedTest|TestFactory)|\[(?:Test|Fact|Theory|TestMethod|TestCase)\b[^\]]*\])[^{;]{0,300}?\b(\w+)\s*\(`,
		Skips:    `@(?:Disabled|Ignore)\b|\b[Aa]ssume(?:True|False|That)\(|\bSkip\s*=|\[Ignore`,
		Asserts:  `\b[Aa]ssert\w*[.(]|\bverify\(|\.should`,
	}
}

// Patterns of lines in a Maven or Gradle build: those that make it run less or end before it
// can report, and those that make it do more than the build describes.
const (
	jvmNarrows = `(?i)(?:\b|set)ignoreFailures|testFailureIgnore|test\.failure\.ignore|\bskipTests\b|maven\.test\.skip|TestsMatching|(?:in|ex)clude(?:d?Groups|Tags|Categories|Engines)\b|` +
		`\bexcludedTaskNames\b|\btaskNames\b|\bdryRun\b|\boverwrite\b|deleteAllActions|\.exit\b|\bexitProcess\b|\bhalt\b`
	jvmLoads = `\bdo(?:First|Last)\b|\bfinalizedBy\b|\bbuildFinished\b|test-results|surefire-reports|\bprint(?:ln|f)?\b|\b(?:java)?exec\b|\bProcessBuilder\b|(?:exec|antrun|groovy-maven|gmavenplus)(?:-maven)?-plugin|` +
		`\bapply\s*\(?\s*from\b|javaagent|^<extension>|\bincludeBuild\b|^-f\b|^--?(?:file|settings-file|build-file|init-script)\b`
)

// jvmOutlines returns the declaration patterns of its files.
func jvmOutlines() []OutlinePatterns {
	return []OutlinePatterns{
		{Name: "Java", Members: true, Ends: []string{".java"}, Tests: []string{"*Test.java", "*Tests.java", "*IT.java", "package-info.java"}, Declares: []string{"public class ", "public final class ", "public abstract class ", "public sealed ", "public non-sealed ", "public interface ", "public enum ", "public record ", "public @interface ", "class ", "interface ", "enum ", "record ", "final class ", "abstract class "}, Imports: []string{"import "}, Between: "."},
		{Name: "Kotlin", Ends: []string{".kt"}, Tests: []string{"*Test.kt"}, Declares: []string{"class ", "data class ", "sealed class ", "sealed interface ", "abstract class ", "open class ", "enum class ", "value class ", "interface ", "fun interface ", "object ", "fun ", "suspend fun ", "typealias "}, Imports: []string{"import "}, Between: "."},
	}
}

// mavenCommandRules are rows about the commands of its tools; see [Stack.CommandRules].
const mavenCommandRules = `
deny  | publish  | mvn mvnw sbt lein | deploy release:prepare release:perform deploy:deploy-file site:deploy publish publishSigned release ci-release
allow | build    | mvn mvnw | clean validate compile test package verify test-compile | = !-f !--file !-s !--settings !-gs !-t !-l
`

// gradleCommandRules are rows about the commands of its tools; see [Stack.CommandRules].
const gradleCommandRules = `
deny  | publish  | gradle gradlew | publish publishPlugins publishAllPublicationsToMavenCentral publishToSonatype uploadArchives closeAndReleaseRepository
allow | build    | gradle gradlew | build test check assemble compileJava compileKotlin compileTestJava clean classes jar tasks | = !-I !--init-script !-b !-p !-c !-g
`

// maxParents limits the number of parent POMs that are searched for a licence.
const maxParents = 5

// mavenLicence reads a POM of the local repository, and its parents.
func mavenLicence(p PackageSearchPaths, k ListedPackage) string {
	home := p.firstDirectory("", ".m2", "repository")
	group, artifact, ok := strings.Cut(k.Name, ":")
	if home == "" || !ok {
		return ""
	}
	version := k.Version
	for range maxParents {
		if group == "" || artifact == "" || version == "" || !filepath.IsLocal(path.Join(group, artifact, version)) {
			return ""
		}
		text := p.readText(path.Join(home, strings.ReplaceAll(group, ".", "/"), artifact, version, artifact+"-"+version+".pom"))
		var pom struct {
			Licenses []struct {
				Name string `xml:"name"`
				URL  string `xml:"url"`
			} `xml:"licenses>license"`
			Parent struct {
				Group    string `xml:"groupId"`
				Artifact string `xml:"artifactId"`
				Version  string `xml:"version"`
			} `xml:"parent"`
		}
		if decodeXMLLoosely(text, &pom) != nil {
			return ""
		}
		var said []string
		for _, l := range pom.Licenses {
			name := l.Name
			if licencename.KnownName(name) == "" && licencename.KnownName(l.URL) != "" {
				name = l.URL
			}
			said = append(said, name)
		}
		if l := licencename.JoinExpression(said, " AND "); l != "" { // nothing says that one of them is enough
			return l
		}
		group, artifact, version = strings.TrimSpace(pom.Parent.Group), strings.TrimSpace(pom.Parent.Artifact), strings.TrimSpace(pom.Parent.Version)
	}
	return ""
}

// jvmSyntax returns the syntax of its files. Scripts in Kotlin are mostly builds.
func jvmSyntax() []SourceSyntax {
	sources := braceSyntax(splitWords(".java .kt .scala .groovy"), LineMutations{Calls: true, Nothing: ";", Returns: returnsEnded, None: "null"})
	sources = sources.withFunctionHeads(`^\s*(?:\w+ )*fun (?:<[^>]*> )?(?:[\w<>?, ]+\.)?(\w+)\(|` + typedHeads)
	scripts := sources
	scripts.Ends, scripts.Faults = []string{".kts"}, LineMutations{}
	return []SourceSyntax{sources.withExports(classExports, `"""`), scripts.withExports(classExports, `"""`)}
}

// classExports matches the names that classes of the JVM and of .NET export.
const classExports = `(?m)^\s*(?:public|protected|open|override|internal)\s[^=;{(\n]*?\b(\w+)\s*[({]|^\s*(?:public\s+|open\s+|data\s+|sealed\s+|abstract\s+|final\s+|static\s+)*(?:class|interface|enum|record|object|trait|fun)\s+(\w+)`
