import { parse } from 'yaml'

/** An image that the workflow of releases builds and pushes. */
export interface PublishedImage {
  /** With its tag. */
  readonly name: string
  /** The stage of the Dockerfile. */
  readonly target: string
  /** What else the step that pushes it is given. */
  readonly settings: Readonly<Record<string, unknown>>
}

interface Workflow {
  readonly jobs: Readonly<Record<string, { readonly steps?: readonly Step[] }>>
}

interface Step {
  readonly uses?: string
  readonly with?: Readonly<Record<string, unknown>>
}

/** The images that .github/workflows/release.yml, given as text, publishes of this version. */
export function publishedImages(workflow: string, version: string): PublishedImage[] {
  const { jobs } = parse(workflow) as Workflow
  const steps = Object.values(jobs).flatMap(({ steps = [] }) => steps)
  return steps
    .filter(({ uses }) => uses?.startsWith('docker/build-push-action@'))
    .map(({ with: given = {} }) => {
      const { tags, target, ...settings } = given
      const name = String(tags).replace(/\$\{\{.*?\.version \}\}/, version)
      return { name, target: String(target), settings }
    })
}
