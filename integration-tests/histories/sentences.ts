import type { Change, Event, Fault, History, Setting, Step } from './history.ts'

/** A history as a list that people can read: what the service is, then a step a line. */
export function sentences({ streams, options, settings, crowd, seeded, steps }: History): string {
  const named = (stream: number) => streams[stream % streams.length] ?? ''
  return [
    `streams ${streams.join(', ')}`,
    `service ${JSON.stringify(options)}`,
    `configuration ${JSON.stringify(settings)}`,
    ...(crowd === undefined
      ? []
      : [`${crowd.references} references, and ${crowd.kept} characters of another stream's state`]),
    ...seeded.map((change) => `before: ${changeText(change, named)}`),
    ...steps.map((step, i) => `${i + 1}. ${stepText(step, named)}`),
  ].join('\n')
}

type Named = (stream: number) => string

function stepText(step: Step, named: Named): string {
  if (step.do === 'sync') {
    const parts = [
      ...step.during.map(
        ({ atRequest, event }) => `at request ${atRequest} ${eventText(event, named)}`,
      ),
      ...step.faults.map((fault) => faultText(fault, named)),
      ...(step.killAfter > 0 ? [`killed after line ${step.killAfter}, kept: ${step.kept}`] : []),
    ]
    return ['sync', ...parts].join('; ')
  }
  if (step.do === 'rewind') {
    const rows = step.isKept ? 'with the rows of today' : 'with the rows of that time'
    return `back to the state ${step.syncs} syncs ago, ${rows}`
  }
  if (step.do === 'switch-mode') {
    const data = step.isCleared ? 'cleared with its state' : 'kept'
    return `the sync mode of ${named(step.stream)} is switched, its rows are ${data}`
  }
  if (step.do === 'columns') {
    const which = step.without.length === 0 ? 'all columns' : `all columns but ${step.without}`
    return `${which} of ${named(step.stream)} are selected from now on`
  }
  if (step.do === 'version') {
    const which = step.field === null ? 'newest' : `one before field ${step.field}`
    return `the version of the connector is the ${which} of ${named(step.stream)} from now on`
  }
  if (step.do === 'select') {
    const left = step.without.map(named).join(', ')
    return `all streams${left && ` but ${left}`} are selected from now on`
  }
  if (step.do === 'environment')
    return `the configuration is of ${step.domain ?? 'the first environment'} from now on${step.isOther ? ', and of another stream' : ''}`
  if (step.do === 'address') return `the tenant is found at ${step.host} from now on`
  return step.do === 'configure' ? settingText(step.setting) : eventText(step, named)
}

function eventText(event: Event, named: Named): string {
  if (event.do === 'change') return changeText(event.change, named)
  if (event.do === 'advance') return `${event.hours} hours pass`
  if (event.do === 'expire-tokens') return 'access tokens expire'
  if (event.do === 'expire-continuations') return `continuations expire with ${event.status}`
  if (event.do === 'expire-delta') return `the delta of ${named(event.stream)} expires`
  if (event.do === 'steal-delta') return `somebody steals the delta of ${named(event.stream)}`
  return `${event.isRemoval ? 'removes' : 'sets'} the reference ${event.pick}`
}

function changeText(change: Change, named: Named): string {
  const what = `${change.kind} in ${named(change.stream)}`
  if (change.kind === 'insert') {
    return `${what} at day ${change.day}${change.size === 'small' ? '' : `, a ${change.size} record`}`
  }
  if (change.kind === 'odd') {
    const odd = `${JSON.stringify(change.member)}: ${JSON.stringify(change.value)}`
    return `${what} of record ${change.pick}: ${odd.slice(0, 100)}`
  }
  return change.kind === 'move'
    ? `${what} of record ${change.pick} to day ${change.day}`
    : `${what} of record ${change.pick}`
}

function faultText({ kind, path, stream, skip, times }: Fault, named: Named): string {
  const what = pathText(path, named(stream))
  return `${kind} for ${what} after ${skip} requests, ${times} times`
}

function pathText(path: Fault['path'], stream: string): string {
  if (path === 'token') return 'the token'
  if (typeof path === 'object') return `the references of ${path.references}`
  return `the ${path.replace('-', ' ')} of ${stream}`
}

function settingText({ set, to }: Setting): string {
  return `${set} is ${to === undefined ? 'left out' : JSON.stringify(to)} from now on`
}
