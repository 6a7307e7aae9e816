// Tells what importing the module in the first argument cost, in microseconds of CPU.
const before = process.cpuUsage()
await import(process.argv[2])
const { user, system } = process.cpuUsage(before)
console.log(user + system)
