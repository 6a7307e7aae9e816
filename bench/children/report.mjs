// How a server under test talks to the harness: it tells its port once, and its CPU time whenever it is asked.

/** @param {number} port @param {(message: object) => void} [take] gets every message that is not the question for CPU time */
export function reportTo(port, take = () => {}) {
  process.on('message', (message) => {
    if (message.ask === 'stop') process.exit()
    if (message.ask !== 'cpu') return take(message)
    const { user, system } = process.cpuUsage()
    process.send({ cpuMicros: user + system })
  })
  process.on('disconnect', () => process.exit())
  process.send({ port })
}
