import { expect, it } from 'vitest'
import { addressOf, destinationFault } from './destination.ts'

it.each([
  'http://127.0.0.1:8080/a?b',
  'http://127.9.9.9/',
  'http://localhost:1/',
  'http://[::1]:1/',
  'https://127.0.0.1/',
])('sends to %s', (destination) => {
  const url = new URL(destination)
  expect([destinationFault(destination), addressOf(destination, undefined)]).toEqual([
    undefined,
    { url, host: url.host },
  ])
})

it.each([
  'https://hooks.example/',
  'https://127.0.0.1.hooks.example/',
  'https://localhost.hooks.example/',
  'https://127.0.0.1@hooks.example/',
  'https://[::ffff:192.0.2.1]/',
])('takes %s, and sends nothing there', (destination) => {
  const reached = [undefined, 'http://192.0.2.1', 'http://127.0.0.1@192.0.2.1', 'ftp://127.0.0.1']
  expect([
    destinationFault(destination),
    reached.map((deliverTo) => addressOf(destination, deliverTo)),
  ]).toEqual([undefined, [undefined, undefined, undefined, undefined]])
})

it.each(['http://hooks.example/', 'ftp://127.0.0.1/', '//127.0.0.1/', 'hooks', ''])(
  'refuses "%s"',
  (destination) => expect(destinationFault(destination)).toMatch(/^is no/),
)
