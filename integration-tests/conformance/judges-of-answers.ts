import { readJson } from './acceptance-config.ts'
import type { Evidence } from './evidence.ts'
import { type Judge, judge } from './judge.ts'
import { answersAsDeclared } from './judges/connection.ts'
import * as discovery from './judges/discovery.ts'
import * as output from './judges/output.ts'
import * as marks from './judges/secret-marks.ts'
import * as spec from './judges/spec.ts'
import type { Fields } from './transcript.ts'

const ofSpec = (name: string, faults: (specification: Fields) => string[]): Judge =>
  judge('spec', name, async (evidence) => faults(await specificationOf(evidence)))

const ofStreams = (name: string, faults: typeof discovery.namesAreUnique): Judge =>
  judge('discovery', name, async ({ offered }) => faults(await offered()))

/** What spec, check and discover are judged by: CAT's TestSpec, TestConnection, TestDiscovery, and FAST. */
export const judgesOfAnswers: readonly Judge[] = [
  judge('spec', 'spec prints one SPEC among the first lines', async (e) =>
    output.answersOnce(await e.spec()),
  ),
  judge('spec', 'spec prints messages only', async (e) => clean(await e.spec())),
  judge('spec', 'the configuration fits the specification', async (e) =>
    spec.configMatches(await specificationOf(e), e.config),
  ),
  judge('spec', 'SPEC is the file that was reviewed', async (e) => {
    const { spec_path: path } = e.entry('spec') ?? {}
    if (path === undefined) return []
    return spec.specIsTheFile(await specOf(e), readJson(e.subject.acceptance, path))
  }),
  judge('spec', 'OAuth refers to fields that exist', async (e) => spec.oauthFits(await specOf(e))),
  ofSpec('the specification uses no forbidden keyword', spec.keywordsAreAllowed),
  ofSpec('the specification has simple types', spec.typesAreSimple),
  ofSpec('no enum repeats a value', spec.enumsAreDistinct),
  ofSpec('the specification is open', spec.specificationIsOpen),
  ofSpec('choices can be told apart', spec.choicesCanBeTold),
  ofSpec('orders and groups are unambiguous', spec.ordersAreDistinct),
  ofSpec('every field has a title and a description', spec.fieldsAreExplained),
  ofSpec('dates have patterns', spec.datesHavePatterns),
  ofSpec('secrets are marked, and nothing else', marks.secretsAreMarked),
  judge('connection', 'check answers as declared', async (e) =>
    answersAsDeclared(await e.check(), e.entry('connection')?.status),
  ),
  judge('connection', 'check prints messages only', async (e) => clean(await e.check())),
  judge('connection', 'check tells no secret', async (e) =>
    output.nothingLeaks(await e.check(), await known(e)),
  ),
  judge('discovery', 'discover prints one CATALOG', async (e) =>
    output.answersOnce(await e.discover()),
  ),
  judge('discovery', 'discover prints messages only', async (e) => clean(await e.discover())),
  judge('discovery', 'discover tells no secret', async (e) =>
    output.nothingLeaks(await e.discover(), await known(e)),
  ),
  ofStreams('the catalog has streams of unique names', discovery.namesAreUnique),
  ofStreams('every stream declares its sync modes', discovery.modesAreDeclared),
  ofStreams('every schema is a valid JSON Schema', discovery.schemasAreValid),
  ofStreams('cursors are in the schemas', discovery.cursorsExist),
  ofStreams('every stream has a primary key', discovery.everyStreamHasAKey),
  ofStreams('primary keys are in the schemas', discovery.keysExist),
  ofStreams('primary keys are scalar', discovery.keysAreScalar),
  ofStreams('schemas hold no references', discovery.schemasHaveNoRefs),
  ofStreams('schemas use no unsupported keyword', discovery.keywordsAreSupported),
  ofStreams('schemas are open', discovery.schemasAreOpen),
  ofStreams('types are those of the platform', discovery.typesAreSupported),
]

/** What a judge of leaks needs to know: the values of the configuration that are secret. */
export async function known(evidence: Evidence) {
  return { config: evidence.config, specification: await specificationOf(evidence) }
}

function clean(transcript: Parameters<typeof output.linesAreMessages>[0]): string[] {
  return [
    ...output.linesAreMessages(transcript),
    ...output.typesBelongToCommand(transcript),
    ...output.stderrIsQuiet(transcript),
  ]
}

async function specificationOf(evidence: Evidence): Promise<Fields> {
  return (await specOf(evidence)).connectionSpecification
}

async function specOf({ spec }: Evidence) {
  const { messages } = await spec()
  return messages.find((message) => message.spec)?.spec ?? { connectionSpecification: {} }
}
