const WIDTH_PX = 720
const LABEL_PX = 190
const BAR_PX = 28
const GAP_PX = 12
const HEAD_PX = 48

/** A program and its throughput. */
interface Bar {
  readonly name: string
  readonly recordsPerSecond: number
}

/** The throughput of eight million records, as docs/performance.md has it in a table, as a chart in SVG. */
export function performanceChart(page: string): string {
  const bars = barsOf(page)
  const most = Math.max(...bars.map(({ recordsPerSecond }) => recordsPerSecond))
  const scale = (WIDTH_PX - LABEL_PX - 110) / most
  const height = HEAD_PX + bars.length * (BAR_PX + GAP_PX)
  const lines = bars.map(({ name, recordsPerSecond }, i) => {
    const y = HEAD_PX + i * (BAR_PX + GAP_PX)
    const width = Math.round(recordsPerSecond * scale)
    const middle = y + BAR_PX * 0.68
    return `  <text x="${LABEL_PX - 10}" y="${middle}" text-anchor="end">${name}</text>
  <rect x="${LABEL_PX}" y="${y}" width="${width}" height="${BAR_PX}" rx="3" fill="${i === 0 ? '#1a7f64' : '#8c959f'}"/>
  <text x="${LABEL_PX + width + 8}" y="${middle}">${recordsPerSecond.toLocaleString('en')}</text>`
  })
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH_PX} ${height}" width="${WIDTH_PX}" font-family="system-ui, sans-serif" font-size="14" fill="#1f2328">
  <title>Records per second, eight million records</title>
  <rect width="100%" height="100%" rx="8" fill="#ffffff"/>
  <text x="16" y="28" font-weight="600">Records per second, eight million records</text>
${lines.join('\n')}
</svg>
`
}

function barsOf(page: string): Bar[] {
  const [, section = ''] = page.split('\n## Eight million\n')
  const [table = ''] = section.split('\n## ')
  const rows = [...table.matchAll(/^\| ([^|]+) \| (\d+) \|/gm)]
  if (rows.length < 2) throw new Error('docs/performance.md has no table of eight million records')
  return rows.map(([, name = '', number]) => ({ name, recordsPerSecond: Number(number) }))
}
