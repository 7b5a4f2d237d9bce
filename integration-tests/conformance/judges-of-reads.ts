import type { Section } from './acceptance-config.ts'
import type { Circumstances } from './execute.ts'
import { type Judge, judge } from './judge.ts'
import * as output from './judges/output.ts'
import * as progress from './judges/progress.ts'
import * as records from './judges/records.ts'
import * as refusals from './judges/refusals.ts'
import * as repeated from './judges/repeated-reads.ts'
import { known } from './judges-of-answers.ts'
import type { OfferedStream, Transcript } from './transcript.ts'

type PureJudge = (transcript: Transcript, streams: readonly OfferedStream[]) => string[]

/** The rules for any read that nothing disturbs, by the sentence that they enforce. */
const rules: readonly (readonly [name: string, faults: PureJudge])[] = [
  ['ends with exit code 0 and no error', progress.endsWell],
  ['ends with an exit code that fits its errors', progress.exitCodeTellsErrors],
  ['prints messages only', output.linesAreMessages],
  ['keeps to the types of a read', output.typesBelongToCommand],
  ['is quiet on stderr', output.stderrIsQuiet],
  ['sends records of the chosen streams only', records.recordsBelong],
  ['sends no empty record', records.recordsAreNotEmpty],
  ['fills the primary keys', records.keysAreFilled],
  ['sends records that fit the schemas', records.recordsFitSchemas],
  ['sends columns that the schemas name', records.columnsAreKnown],
  ['stamps records with the present', progress.timesAreNow],
  ['reports the statuses of every stream in order', progress.statusesAreInOrder],
  ['sends nothing outside of a run of its stream', progress.nothingFollowsTheEnd],
  ['sends a state of every stream', progress.statesAreThere],
  ['counts records exactly in its states', progress.countsAreExact],
  ['moves on from state to state', progress.statesMoveOn],
  ['forms its traces well', progress.tracesAreWellFormed],
  ['never pauses for longer than the platform waits', (read) => progress.heartbeatIsKept(read)],
]

const undisturbed = (section: Section, kind: string, which: 'fullRefresh' | 'incremental') => [
  ...rules.map(([name, faults]) =>
    judge(section, `${kind} ${name}`, async (e) =>
      faults(await e[which](), await e.streams(section)),
    ),
  ),
  judge(section, `${kind} tells no secret`, async (e) =>
    output.nothingLeaks(await e[which](), await known(e)),
  ),
]

const alike = (circumstances: Circumstances, name: string, state?: unknown): Judge =>
  judge('basic_read', `a read is the same ${name}`, async (e) =>
    repeated.readsAreAlike(
      await e.fullRefresh(),
      await e.readUnder(circumstances, state),
      await e.streams('basic_read'),
    ),
  )

/** What reads are judged by: CAT's and FAST's tests of reading, and the rules of the platform and of PyAirbyte. */
export const judgesOfReads: readonly Judge[] = [
  ...undisturbed('basic_read', 'a full refresh', 'fullRefresh'),
  judge('basic_read', 'every stream has records', async (e) =>
    records.everyStreamHasRecords(await e.fullRefresh(), await e.streams('basic_read')),
  ),
  judge('basic_read', 'expected rows are read', async (e) =>
    records.expectedRowsAreThere(
      await e.fullRefresh(),
      await e.streams('basic_read'),
      e.subject.expected ?? (() => undefined),
    ),
  ),
  judge('basic_read', 'a stream that does not exist is refused', async (e) =>
    refusals.refusesTheUnknown(await e.unknownStream()),
  ),
  judge('basic_read', 'a stream that does not exist stops no other', async (e) => {
    const [first] = await e.streams('basic_read')
    return refusals.readsTheKnown(await e.knownAndUnknown(), first?.name ?? '')
  }),
  judge('basic_read', 'errors come last, those that a retry cures first', async (e) => {
    const transcript = await e.knownAndUnknown()
    return [
      ...progress.errorsComeLast(transcript),
      ...progress.retryableFailuresComeFirst(transcript),
      ...progress.exitCodeTellsErrors(transcript),
    ]
  }),
  judge('basic_read', 'a wrong configuration is refused', async (e) =>
    refusals.refusesTheConfig(await e.incompleteConfig()),
  ),
  judge('basic_read', 'a refusal tells no secret', async (e) =>
    output.nothingLeaks(await e.incompleteConfig(), await known(e)),
  ),
  alike({ inShell: true }, 'by eval in a shell that stands elsewhere'),
  alike({ stdout: 'file' }, 'into a file'),
  alike({ stdout: 'slow pipe' }, 'into a slow pipe'),
  alike({}, 'with an empty list of states', []),
  alike({}, 'with an empty state file', ''),
  judge('basic_read', 'SIGTERM ends a read by the signal', async (e) =>
    refusals.diesByTheSignal(
      await e.readUnder({ stdout: 'slow pipe', after: { lines: 1, act: 'SIGTERM' } }),
    ),
  ),
  judge('basic_read', 'a read ends when its reader leaves', async (e) =>
    refusals.leavesWithTheReader(await e.readUnder({ after: { lines: 1, act: 'close' } })),
  ),
  judge('full_refresh', 'a second read has what the first had', async (e) =>
    repeated.secondReadRepeats(
      await e.fullRefresh(),
      await e.fullRefreshAgain(),
      await e.streams('full_refresh'),
    ),
  ),
  ...undisturbed('incremental', 'an incremental read', 'incremental'),
  judge('incremental', 'the last state saves the next read its work', async (e) =>
    repeated.stateIsUsed(
      await e.incremental(),
      await e.incrementalAgain(),
      await e.streams('incremental'),
    ),
  ),
  ...rules.map(([name, faults]) =>
    judge('incremental', `a read from the last state ${name}`, async (e) =>
      faults(await e.incrementalAgain(), await e.streams('incremental')),
    ),
  ),
  judge('incremental', 'states in a global state are taken as well', async (e) =>
    repeated.readsAreAlike(
      await e.incrementalAgain(),
      await e.incrementalFrom('global'),
      await e.streams('incremental'),
    ),
  ),
  judge('incremental', 'a read continues from any of its states', async (e) =>
    repeated.statesCanBeContinued(await e.sampled()),
  ),
  judge('incremental', 'states of every stream count records', async (e) =>
    repeated.everyStreamWasSampled(await e.sampled(), await e.streams('incremental')),
  ),
  // Last, because a service may end what it remembers of a reader when the reader begins again.
  judge('incremental', 'a state of null begins a stream again', async (e) =>
    repeated.readsAreAlike(
      await e.incremental(),
      await e.incrementalFrom('null'),
      await e.streams('incremental'),
    ),
  ),
]
