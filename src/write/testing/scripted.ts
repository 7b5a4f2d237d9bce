import { ClientError } from '../../client/client-error.ts'
import { refused } from './fake-requests.ts'

/** A case of a table: what it shows, what the service has, the changes, its answers, the requests, and what is told of them. */
export type Case = [
  what: string,
  has: string,
  wanted: string,
  answers: string,
  requests: string,
  told: string,
]

/** The cases in the lines of a table, with bars between the cells. */
export function cases(table: string): Case[] {
  const lines = table.trim().split('\n')
  return lines.map((line) => line.split('|').map((cell) => cell.trim()) as Case)
}

/** Notes requests, and has the answers that are given to some, such as `put A=1: ok 400; get A: =3`. */
export function scripted(answers: string) {
  const asked: string[] = []
  const left = new Map<string, string[]>()
  for (const [, request = '', all = ''] of answers.matchAll(/([^:;]+): ([^;]+)/g))
    left.set(request.trim(), all.split(' '))
  return {
    asked,
    note(request: string): void {
      asked.push(request)
      if (asked.length > 100) throw new Error('It asks without an end.')
    },
    /** The next answer to a request, `ok` if none is given; a status refuses it. */
    answer(request: string): string {
      const answer = left.get(request)?.shift() ?? 'ok'
      if (answer === '500') throw new ClientError('transient', 'x-test', 'Down.', { status: 500 })
      if (/^\d+$/.test(answer)) throw refused(`No, ${answer}.`, Number(answer))
      return answer
    },
  }
}
