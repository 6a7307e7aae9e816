// What importing any module costs.
export const nothing = undefined
