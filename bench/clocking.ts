/** The record of an index, as text: 235 bytes, like a clocking with one reference. */
export function clocking(index: number): string {
  const person = 1 + ((index * 7919) % 5000)
  const minute = (index * 13) % 1440
  return JSON.stringify({
    changeVersion: (0xa00000 + index).toString(16).toUpperCase().padStart(16, '0'),
    id: 100_000 + index,
    person: { id: person, externalReferences: { '@employee-number': `E${person}` } },
    date: `2026-03-${String(1 + (index % 28)).padStart(2, '0')}`,
    timeOfDayInMinutes: minute,
    kind: 'InOut',
    isGenerated: false,
    calculatedTimeOfDayInMinutes: minute - (minute % 5),
  })
}
