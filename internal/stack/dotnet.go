package stack

func dotnet() Stack {
	return Stack{
		Name: "dotnet", Markers: []string{"*.sln", "*.slnx", "*.csproj", "*.fsproj"},
		Steps: []Step{
			{Gate: "build", Args: []string{"dotnet", "build", "--nologo"}, Format: "dotnet"},
			{Gate: "test", Args: []string{"dotnet", "test", "--nologo"}, Format: "dotnet-test", Tests: true, Alone: []Lone{{Name: NameDotted, Args: []string{"dotnet", "test", "--nologo", "--filter", "FullyQualifiedName={test}"}}}, Cover: dotnetCover()},
		},
	}
}

func dotnetCover() []Cover {
	const line = `dotnet test --nologo --collect "XPlat Code Coverage" --results-directory "$d" >&2 || exit
set -- "$d"/*/coverage.cobertura.xml
[ -s "$1" ] || lack coverlet.collector "dotnet add package coverlet.collector"
[ $# -eq 1 ] || { echo "$# projects wrote reports, of which one can be read: set done.coverage_command" >&2; exit 1; }
show "$1"`
	return []Cover{{Name: "Coverlet", Format: "cobertura", Args: measured(line)}}
}
