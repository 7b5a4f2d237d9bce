import type { Fields, Store } from '../store/store.ts'
import type { PersonGroups } from './check.ts'

/** How many circles there are; everybody is in one. */
const circles = 4

/** The people of `circle(n)`, and of `org-group(n)`: those whose current department is n. */
export function createPersonGroups(store: Store): PersonGroups {
  return (group, id) => {
    if (group === 'circle') {
      const ids = store.records('people').map((record) => Number(record.id))
      return ids.filter((person) => (person % circles) + 1 === id)
    }
    if (group !== 'org-group') return undefined
    return [...store.records('department-histories')].flatMap(({ text, person }) => {
      const { until, department } = JSON.parse(text) as Fields
      const current = until === null && (department as Fields | undefined)?.['id'] === id
      return current && person !== undefined ? [person] : []
    })
  }
}
