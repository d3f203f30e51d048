// A module for its namespace object, which nothing can clone.
export const something = 1;
