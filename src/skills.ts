/** Skills (`io.modelcontextprotocol/skills`), served from a folder. Needs the package `yaml`. */
export { skills, skillsIdentifier } from './extension/skills.ts'
export type { SkillsExtension, SkillsOptions } from './extension/skills.ts'
