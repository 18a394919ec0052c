package main

import (
	"debug/buildinfo"
	"errors"
	"os"
	"time"

	cdx "github.com/CycloneDX/cyclonedx-go"
)

// writeSBOM writes the modules and the Go version that a program was built from, as the program's
// build information lists them.
func writeSBOM(path, program, version string, at time.Time) (err error) {
	info, err := buildinfo.ReadFile(program)
	if err != nil {
		return err
	}
	component := func(kind cdx.ComponentType, name, version string) cdx.Component {
		purl := "pkg:golang/" + name + "@" + version
		return cdx.Component{Type: kind, BOMRef: purl, Name: name, Version: version, PackageURL: purl}
	}
	main := component(cdx.ComponentTypeApplication, info.Main.Path, "v"+version)
	components := []cdx.Component{component(cdx.ComponentTypeLibrary, "std", info.GoVersion)}
	for _, m := range info.Deps {
		if m.Replace != nil {
			m = m.Replace
		}
		components = append(components, component(cdx.ComponentTypeLibrary, m.Path, m.Version))
	}
	var refs []string
	for _, c := range components {
		refs = append(refs, c.BOMRef)
	}
	bom := cdx.NewBOM()
	bom.Metadata = &cdx.Metadata{Timestamp: at.Format(time.RFC3339), Component: &main}
	bom.Components = &components
	bom.Dependencies = &[]cdx.Dependency{{Ref: main.BOMRef, Dependencies: &refs}}
	out, err := os.Create(path)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, out.Close()) }()
	return cdx.NewBOMEncoder(out, cdx.BOMFileFormatJSON).SetPretty(true).Encode(bom)
}
